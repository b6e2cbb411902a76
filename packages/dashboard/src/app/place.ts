import type { NavItem } from './nav-page.ts';
import { MAIN, SETTINGS, SETTINGS_ENTRY } from './nav.ts';

/** A page with the entry that contains it; null: the page is an entry itself. */
export type Listed = { page: NavItem; parent: NavItem | null };

/** Every page of the sidebars and tab bars once, in their order. */
export const PAGES: Listed[] = [
  ...MAIN.flatMap(({ items }) => items)
    .filter((item) => item !== SETTINGS_ENTRY)
    .flatMap((item): Listed[] =>
      item.tabs ? item.tabs.map((page) => ({ page, parent: item })) : [{ page: item, parent: null }],
    ),
  ...SETTINGS.flatMap(({ items }) => items).map((page) => ({ page, parent: SETTINGS_ENTRY })),
];

/** `isDetail`: one item of the page's list, such as one user. */
export type Place = Listed & { isDetail: boolean };

/** Finds the page that a path belongs to. A path that no page has is not found. */
export function placeOf(pathname: string): Place | null {
  const path = pathname.replace(/^\/p\/[^/]*\//, '/p/$project/').replace(/\/$/, '');
  for (const listed of PAGES) {
    const { to, details } = listed.page;
    if (path === to) return { ...listed, isDetail: false };
    const prefixes = [to, ...(details === undefined ? [] : [`/p/$project/${details}`])];
    if (prefixes.some((prefix) => path.startsWith(`${prefix}/`))) return { ...listed, isDetail: true };
  }
  return null;
}

/** Whether a path belongs to an entry of a sidebar. */
export function isWithin(item: NavItem, place: Place | null): boolean {
  return place !== null && (place.parent === item || place.page === item);
}

export function isInSettings(place: Place | null): boolean {
  return place?.parent === SETTINGS_ENTRY;
}
