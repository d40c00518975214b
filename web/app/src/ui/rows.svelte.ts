/** Rows that are rendered above and below what is seen. */
const SPARE = 8;

/**
 * Which rows of a long list are to be rendered, all of one height: those its
 * scrolling box shows, and a few around them.
 */
export class Rows {
  #top = $state(0);
  #seen = $state(600);
  /** The height of a row, in pixels. */
  readonly height: number;

  /** @param rem a row's height in root ems, which follow the reader's font size. */
  constructor(
    rem: number,
    private readonly count: () => number,
  ) {
    this.height = rem * (parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);
  }

  readonly first = $derived.by(() => Math.max(0, Math.min(this.count(), Math.floor(this.#top / this.height)) - SPARE));
  readonly last = $derived.by(() => Math.min(this.count(), Math.ceil((this.#top + this.#seen) / this.height) + SPARE));
  /** The room of the rows in front of the first and behind the last, in pixels. */
  readonly before = $derived.by(() => this.first * this.height);
  readonly after = $derived.by(() => (this.count() - this.last) * this.height);

  /** Attached to the box that scrolls. */
  readonly box = (node: HTMLElement) => {
    const look = () => {
      this.#top = node.scrollTop;
      if (node.clientHeight > 0) this.#seen = node.clientHeight;
    };
    const observer = new ResizeObserver(look);
    observer.observe(node);
    node.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener("scroll", look);
    };
  };
}
