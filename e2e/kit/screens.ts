import type { Session } from './session.ts';

/** Every screen of a project, by its path; those of one thing with one that the project has. */
export async function screensOf(session: Session, projectId: number): Promise<string[]> {
  const base = `/projects/${projectId}`;
  const first = async (path: string): Promise<string | number | null> => {
    type Listed = { data: { id?: string | number; external_user_id?: string; name?: string }[] };
    const { data } = await session.ask<Listed>('GET', `${base}/${path}`);
    const [one] = data;
    return one?.id ?? one?.external_user_id ?? one?.name ?? null;
  };
  const things = await Promise.all(
    THINGS.map(async ([screen, list]) => {
      const id = await first(list);
      return id === null ? [] : [`${screen}/${encodeURIComponent(id)}`];
    }),
  );
  return [...SCREENS, ...things.flat()].map((path) => `/p/${projectId}/${path}`).concat(OUTSIDE);
}

const SCREENS = [
  'home',
  'review',
  'schedule',
  'live',
  'users',
  'audiences',
  'events',
  'rules',
  'sequences',
  'templates',
  'deliveries',
  'outbox',
  'replies',
  'insights',
  'keys',
  'requests',
  'webhooks',
  'system',
  'domains',
  'policy',
  'suppressions',
  'sender',
  'team',
  'audit',
  'data',
];

/** The screen of one thing, and the list in which one is found. */
const THINGS = [
  ['drafts', 'drafts?view=all&limit=1'],
  ['users', 'users?limit=1'],
  ['audiences', 'audiences'],
  ['rules', 'rules'],
  ['templates', 'templates'],
  ['deliveries', 'deliveries?limit=1'],
  ['outbox', 'outbox?limit=1'],
  ['webhooks', 'webhooks'],
] as const;

const OUTSIDE = ['/projects', '/profile'];
