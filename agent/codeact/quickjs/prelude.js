// What code of a model finds beside the language: print, console, and the tools
// as functions. The two functions of the host are taken away from it.
(function (host, say, functions) {
  "use strict";
  delete globalThis.__host;
  delete globalThis.__say;
  const show = function (v) {
    if (typeof v === "string") return v;
    if (v instanceof Error) return String(v);
    if (typeof v === "function" || typeof v === "symbol") return String(v);
    try {
      const text = JSON.stringify(v);
      return text === undefined ? String(v) : text;
    } catch (e) {
      return String(v);
    }
  };
  const print = function (...values) { say(values.map(show).join(" ") + "\n"); };
  const isObject = function (v) { return v !== null && typeof v === "object" && !Array.isArray(v); };
  globalThis.print = print;
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print };
  const fail = function (kind, message) {
    const e = new kind(message);
    e.stack = e.stack.split("\n").slice(2).join("\n"); // without this function and its caller: the line is that of the code
    throw e;
  };
  for (const f of functions || []) {
    const parameters = f.parameters || [];
    globalThis[f.name] = function (...values) {
      let args = {};
      if (values.length === 1 && isObject(values[0])) {
        args = values[0];
      } else if (values.length > parameters.length) {
        fail(TypeError, f.name + " takes " + parameters.length + " arguments");
      } else {
        values.forEach(function (v, i) { args[parameters[i]] = v; });
      }
      const answer = JSON.parse(host(f.name, JSON.stringify(args)));
      if (answer.error) fail(Error, answer.error);
      return answer.value;
    };
  }
  globalThis.__show = function (v) { return v === undefined ? "" : show(v); };
})(__host, __say, __functions);
delete globalThis.__functions;
