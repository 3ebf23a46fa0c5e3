import { byId } from '../dom.ts';

export const VIEWS = ['claims', 'board', 'timeline', 'tree'] as const;
export type View = (typeof VIEWS)[number];

export function isView(name: string | undefined): name is View {
  return VIEWS.some((view) => view === name);
}

/** Tabs as the ARIA practices describe them: one is in the tab order, the arrow keys move between them. */
export function wireTabs(onOpen: (view: View) => void): (view: View) => void {
  const tabs = new Map(VIEWS.map((view) => [view, byId(`tab-${view}`)]));
  const open = (view: View) => {
    for (const [name, tab] of tabs) {
      const isOpen = name === view;
      tab.setAttribute('aria-selected', String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      byId(`panel-${name}`).hidden = !isOpen;
    }
    onOpen(view);
  };
  for (const [view, tab] of tabs) {
    tab.addEventListener('click', () => open(view));
    tab.addEventListener('keydown', (event) => {
      const next = neighbor(view, event.key);
      if (next === undefined) return;
      event.preventDefault();
      open(next);
      tabs.get(next)?.focus();
    });
  }
  return open;
}

function neighbor(view: View, key: string): View | undefined {
  const place = VIEWS.indexOf(view);
  const count = VIEWS.length;
  const places: Readonly<Partial<Record<string, number>>> = {
    ArrowRight: (place + 1) % count,
    ArrowLeft: (place + count - 1) % count,
    Home: 0,
    End: count - 1,
  };
  const next = places[key];
  return next === undefined ? undefined : VIEWS[next];
}
