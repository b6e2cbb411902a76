/**
 * Former paths of pages below `/p/$project/`, and the present ones. Bookmarks and old emails still have them. No link of the product
 * does, which `e2e/docs/former-paths.test.ts` checks.
 */
export const FORMER_PATHS: Readonly<Record<string, string>> = {
  audit: 'settings/audit',
  data: 'settings/data',
  domains: 'settings/domains',
  keys: 'settings/api-keys',
  live: 'activity',
  policy: 'settings/sending-policy',
  sender: 'settings/sender',
  sequences: 'rules',
  system: 'settings/system',
  team: 'settings/team',
};

/** The present path of a former one; null: the path is not a former one. */
export function presentPath(pathname: string): string | null {
  const [, start, project, screen = '', ...rest] = pathname.split('/');
  const present = start === 'p' && Object.hasOwn(FORMER_PATHS, screen) ? FORMER_PATHS[screen] : undefined;
  return present === undefined ? null : ['', start, project, present, ...rest].join('/');
}
