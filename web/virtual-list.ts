import { element } from './dom.ts';

export interface VirtualListOptions<Item> {
  readonly label: string;
  readonly rowHeight: () => number;
  readonly render: (item: Item) => readonly Node[];
  readonly onChoose: (item: Item) => void;
  /** The items that are in sight have changed. */
  readonly onScroll: (first: Item | undefined) => void;
}

const SPARE_ROWS = 8;
const SLACK = 2;

/**
 * A list box of rows of one height. Only the rows in sight are in the document: ten thousand records scroll as smoothly
 * as ten. The keys are those of a native list box.
 */
export class VirtualList<Item> {
  readonly box: HTMLElement;
  readonly #space = element('div', { class: 'rows', role: 'presentation' });
  readonly #options: VirtualListOptions<Item>;
  #items: readonly Item[] = [];
  #chosen = -1;
  #isPlanned = false;

  constructor(options: VirtualListOptions<Item>) {
    this.#options = options;
    this.box = element(
      'div',
      { class: 'list', role: 'listbox', tabindex: 0, 'aria-label': options.label },
      this.#space,
    );
    this.box.addEventListener('scroll', () => this.#plan());
    this.box.addEventListener('keydown', (event) => this.#onKey(event));
    this.box.addEventListener('click', (event) => this.#onClick(event));
    new ResizeObserver(() => this.#plan()).observe(this.box);
  }

  show(items: readonly Item[]): void {
    this.#items = items;
    this.#chosen = -1;
    this.box.scrollTop = 0;
    this.#draw();
  }

  /** Marks an item and brings it into sight. */
  choose(place: number): void {
    const item = this.#items[place];
    if (item === undefined) return;
    this.#chosen = place;
    const height = this.#options.rowHeight();
    const top = place * height;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (top + height > scrollTop + clientHeight) this.box.scrollTop = top + height - clientHeight;
    this.#draw();
    this.#options.onChoose(item);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#draw();
    });
  }

  #draw(): void {
    const height = this.#options.rowHeight();
    const visible = Math.ceil(this.box.clientHeight / height);
    const top = Math.floor(this.box.scrollTop / height);
    const first = Math.max(0, top - SPARE_ROWS);
    const shown = this.#items.slice(first, top + visible + SPARE_ROWS);
    this.#space.style.height = `${this.#items.length * height}px`;
    this.#space.replaceChildren(...shown.map((item, place) => this.#row(item, first + place, height)));
    if (this.#chosen >= 0) this.box.setAttribute('aria-activedescendant', `row-${this.#chosen}`);
    else this.box.removeAttribute('aria-activedescendant');
    this.#options.onScroll(this.#items[top]);
  }

  #row(item: Item, place: number, height: number): HTMLElement {
    const row = element('div', {
      id: `row-${place}`,
      class: 'row',
      role: 'option',
      'data-place': place,
      'aria-setsize': this.#items.length,
      'aria-posinset': place + 1,
      'aria-selected': String(place === this.#chosen),
    });
    row.style.transform = `translateY(${place * height}px)`;
    row.style.height = `${height}px`;
    row.append(...this.#options.render(item));
    return row;
  }

  #onClick(event: Event): void {
    const row = (event.target as Element).closest<HTMLElement>('[data-place]');
    if (row !== null) this.choose(Number(row.dataset['place']));
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.#options.rowHeight()) - SLACK);
    const last = this.#items.length - 1;
    const steps: Readonly<Partial<Record<string, number>>> = {
      ArrowDown: this.#chosen + 1,
      ArrowUp: this.#chosen - 1,
      PageDown: this.#chosen + page,
      PageUp: this.#chosen - page,
      Home: 0,
      End: last,
    };
    const next = steps[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.choose(Math.min(last, Math.max(0, next)));
  }
}
