/**
 * Makes many calls few: the first runs at once, those that come within `ms`
 * after it are one call at the end of that time. A steady stream of calls is
 * therefore never put off for ever.
 */
export function coalesce(ms: number, run: () => void): () => void {
  let waiting = false;
  let again = false;
  const call = () => {
    if (waiting) {
      again = true;
      return;
    }
    waiting = true;
    run();
    setTimeout(() => {
      waiting = false;
      if (!again) return;
      again = false;
      call();
    }, ms);
  };
  return call;
}
