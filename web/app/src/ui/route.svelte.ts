/** Where the page stands, kept in the address after "#": #/ask, #/search, #/knowledge, #/knowledge/{id}. */
export type Route = { view: "ask" } | { view: "search" } | { view: "knowledge"; kb: string | undefined };

export function parseRoute(hash: string): Route {
  const [view, kb] = hash.replace(/^#\/?/, "").split("/", 2);
  if (view === "search") return { view };
  if (view !== "knowledge") return { view: "ask" };
  return { view: "knowledge", kb: kb ? decode(kb) : undefined };
}

export const knowledgeHash = (kb?: string): string => `#/knowledge${kb ? `/${encodeURIComponent(kb)}` : ""}`;

/** Follows the address; made once, where the page is mounted. */
export class Router {
  route = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    $effect(() => {
      const follow = () => (this.route = parseRoute(location.hash));
      addEventListener("hashchange", follow);
      return () => removeEventListener("hashchange", follow);
    });
  }
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // not an address of this page
  }
}
