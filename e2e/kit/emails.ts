import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { serverWith } from './public-api.ts';
import type { Session } from './session.ts';

/** A draft as the list of Review returns it. */
export type Email = {
  id: string;
  state: string;
  reason: string | null;
  deadline_at: string;
  user: { external_user_id: string };
};

const RULE = 'After a hello';
const BODY = 'Hello again. This is what comes next.';

const RULE_DOCUMENT = {
  name: RULE,
  when: { event: 'hello_said' },
  deadline: '4h',
  steps: [{ draft: { subject: 'Hello {{ user.name }}', body: BODY } }],
};
const WRITTEN_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** Returns `u01`, `u02`, … in the order of their drafts in Review. */
export function usersOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `u${String(at + 1).padStart(count < 100 ? 2 : 3, '0')}`);
}

/**
 * Creates one draft per user that waits for review, through the public API as a customer's server would. Quiet hours and caps are off, so
 * that the time of day does not matter.
 */
export async function writeEmails(
  { session, projectId, installation }: { session: Session; projectId: number; installation: Installation },
  users: string[],
): Promise<void> {
  const project = `/projects/${projectId}`;
  const settings = { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' };
  await session.request('PATCH', `${project}/settings`, { settings });
  await session.request('POST', `${project}/rules`, { document: RULE_DOCUMENT });
  await session.request('POST', `${project}/rules/${RULE_DOCUMENT.name}/switch`, { on: true });
  const { data } = await session.request<{ data: { secret: string } }>('POST', `${project}/keys`, {
    label: 'Server',
  });
  const post = serverWith(data.secret, installation);
  await Promise.all(
    users.map((user) =>
      post('users', { external_user_id: user, email: `${user}@example.com`, traits: { name: user } }),
    ),
  );
  const events = users.map((user) => ({ external_user_id: user, name: 'hello_said' }));
  const status = await post('events/batch', { events });
  if (status !== 202) throw new Error(`the events were answered with ${status}`);
  const until = Date.now() + WRITTEN_WITHIN_MS;
  for (let written = 0; written < users.length; await wait(LOOK_EVERY_MS)) {
    written = (await emailsIn(session, projectId)).waiting;
    if (Date.now() > until) throw new Error(`${written} of ${users.length} drafts are written`);
  }
}

/** Returns the first page of Review, in its order. */
export async function emailsIn(
  session: Session,
  projectId: number,
): Promise<{ emails: Email[]; waiting: number }> {
  type Listed = { data: Email[]; meta: { pagination: { total: number } } };
  const { data, meta } = await session.request<Listed>('GET', `/projects/${projectId}/drafts?view=review`);
  return { emails: data, waiting: meta.pagination.total };
}

/** Returns the current state of the draft for a user. */
export async function emailTo(session: Session, projectId: number, user: string): Promise<Email> {
  const { data } = await session.request<{ data: Email[] }>(
    'GET',
    `/projects/${projectId}/drafts?view=all&filter=user:${user}`,
  );
  const [email] = data;
  if (!email) throw new Error(`there is no template to ${user}`);
  return email;
}
