import type { Session } from './session.ts';

/** Returns the path of every screen of a project. A screen of one item uses an item that the project has. */
export async function screensOf(session: Session, projectId: number): Promise<string[]> {
  const base = `/projects/${projectId}`;
  const first = async (path: string): Promise<string | number | null> => {
    type Listed = { data: { id?: string | number; external_user_id?: string; name?: string }[] };
    const { data } = await session.request<Listed>('GET', `${base}/${path}`);
    const [item] = data;
    return item?.id ?? item?.external_user_id ?? item?.name ?? null;
  };
  const things = await Promise.all(
    THINGS.map(async ([screen, list]) => {
      const id = await first(list);
      return id === null ? [] : [`${screen}/${encodeURIComponent(id)}`];
    }),
  );
  const outside = [...OUTSIDE, `/device?code=${await requestDevice(session)}`];
  return [...SCREENS, ...things.flat()].map((path) => `/p/${projectId}/${path}`).concat(outside);
}

/** Returns the path of a screen without the project, the item and the code in it. */
export function screenOf(path: string): string {
  const items = THINGS.map(([screen]) => screen).join('|');
  return path
    .replace(/^\/(p\/\d+\/)?/, '')
    .replace(new RegExp(`^(${items})/.+`), '$1/:item')
    .replace(/code=.+/, 'code=');
}

/** Creates a program that waits for approval. Another one was approved, so that the profile has a token to show. */
async function requestDevice(session: Session): Promise<string> {
  type Begun = { data: { user_code: string; device_code: string } };
  const begin = (label: string): Promise<Begun> =>
    session.request('POST', '/device', { label, scopes: ['read', 'review', 'import'] });
  const { data } = await begin('laptop');
  await session.request('POST', `/device/${data.user_code}/approve`, {});
  await session.request('POST', '/device/token', { device_code: data.device_code });
  return (await begin('a program that calls itself by about as many words as it may: '.padEnd(99, 'x'))).data
    .user_code;
}

const SCREENS = [
  'home',
  'review',
  'review?view=decided',
  'rules',
  'templates',
  'audiences',
  'users',
  'suppressions',
  'imports',
  'replies',
  'schedule',
  'emails',
  'test-inbox',
  'insights',
  'activity',
  'requests',
  'dead-letters',
  'events',
  'webhooks',
  'settings/sender',
  'settings/domains',
  'settings/relays',
  'settings/relays/new',
  'settings/reply-source',
  'settings/sending-policy',
  'settings/data',
  'settings/audit',
  'settings/api-keys',
  'settings/sandbox',
  'settings/team',
  'settings/system',
];

/** The screen of one item, and the list that provides an item. */
const THINGS = [
  ['drafts', 'drafts?view=all&limit=1'],
  ['users', 'users?limit=1'],
  ['audiences', 'audiences'],
  ['rules', 'rules'],
  ['templates', 'templates'],
  ['emails', 'emails?limit=1'],
  ['test-inbox', 'test-inbox?limit=1'],
  ['webhooks', 'webhooks'],
] as const;

const OUTSIDE = ['/projects', '/profile', '/device', '/device?code=BCDF-GHJK'];
