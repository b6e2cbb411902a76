import type { NavPath } from './nav-page.ts';

type OutsidePath = '/projects' | '/profile' | '/device' | '/setup' | '/sign-in' | '/invite' | '/reset';

/** The page of the guide about each screen, below `/guide/`. The page of one item has that of its list. */
export const DOCS: Readonly<Record<NavPath | OutsidePath, string>> = {
  '/p/$project/home': 'dashboard#screens',
  '/p/$project/review': 'draft-states#draft',
  '/p/$project/rules': 'rules',
  '/p/$project/templates': 'emails',
  '/p/$project/audiences': 'audiences',
  '/p/$project/users': 'concepts#data-you-send',
  '/p/$project/suppressions': 'suppression-list',
  '/p/$project/imports': 'imports',
  '/p/$project/replies': 'receive-bounces-and-replies#replies',
  '/p/$project/schedule': 'concepts#from-draft-to-email',
  '/p/$project/emails': 'draft-states#email',
  '/p/$project/test-inbox': 'test-inbox',
  '/p/$project/insights': 'outcomes#insights',
  '/p/$project/activity': 'concepts#data-you-send',
  '/p/$project/requests': 'errors',
  '/p/$project/dead-letters': 'monitoring#records-that-could-not-be-applied',
  '/p/$project/events': 'api#canonical-events',
  '/p/$project/webhooks': 'webhooks',
  '/p/$project/settings/sender': 'go-live',
  '/p/$project/settings/domains': 'domains',
  '/p/$project/settings/relays': 'relays',
  '/p/$project/settings/reply-source': 'receive-replies-without-port-25',
  '/p/$project/settings/sending-policy': 'settings#project-settings',
  '/p/$project/settings/data': 'settings#project-settings',
  '/p/$project/settings/audit': 'access-control#audit-log',
  '/p/$project/settings/api-keys': 'rotate-api-keys',
  '/p/$project/settings/sandbox': 'test-clock',
  '/p/$project/settings/team': 'access-control#roles',
  '/p/$project/settings/system': 'monitoring',
  '/projects': 'dashboard#screens',
  '/profile': 'access-control#accounts-and-sign-in',
  '/device': 'access-control#personal-access-tokens',
  '/setup': 'quick-start',
  '/sign-in': 'dashboard#sign-in',
  '/invite': 'access-control#roles',
  '/reset': 'dashboard#sign-in',
};

/** The address of a screen's documentation. The server serves the guide of its own version. */
export function docsOf(page: string): string | null {
  const target = Object.hasOwn(DOCS, page) ? DOCS[page as keyof typeof DOCS] : null;
  if (target === null) return null;
  const [path, anchor] = target.split('#', 2);
  return `/guide/${path}.html${anchor === undefined ? '' : `#${anchor}`}`;
}
