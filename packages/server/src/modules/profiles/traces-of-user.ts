/** Lists data about a user from tables of other modules: `enrollment_record`, `rule_timer`, `email` and the tracking data of emails. */

import { listOutcomesOf, type Outcome } from '../outcomes/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

type Person = { projectId: number; userId: string };

type EntryTrace = { rule_id: string; key: string; enrolled_at: Date; level: number };
type TimerTrace = { rule_id: string; key: string; at: Date; anchor: Record<string, unknown> };
type EmailTrace = {
  draft_id: string;
  id: string;
  rule_id: string;
  address: string;
  state: string;
  reason: string | null;
  claimed_at: Date;
  ended_at: Date | null;
};

/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

export function listEntryTraces(
  tx: Tx,
  person: Person & { pageOf: number },
): AsyncGenerator<EntryTrace[], void, void> {
  return byRule(tx, { ...person, table: 'enrollment_record', columns: 'rule_id, key, enrolled_at, level' });
}

export function listTimerTraces(
  tx: Tx,
  person: Person & { pageOf: number },
): AsyncGenerator<TimerTrace[], void, void> {
  return byRule(tx, { ...person, table: 'rule_timer', columns: 'rule_id, key, at, anchor' });
}

type Source = Person & { pageOf: number; table: 'enrollment_record' | 'rule_timer'; columns: string };

async function* byRule<T extends { rule_id: string; key: string }>(
  tx: Tx,
  { projectId, userId, pageOf, table, columns }: Source,
): AsyncGenerator<T[], void, void> {
  let after: Pick<T, 'rule_id' | 'key'> | undefined = { rule_id: FIRST, key: '' };
  while (after) {
    const page: T[] = await tx.query<T>(
      `SELECT ${columns} FROM beckon.${table}
       WHERE project_id = $1 AND external_user_id = $2 AND (rule_id, key) > ($3::uuid, $4::text)
       ORDER BY rule_id, key LIMIT $5`,
      [projectId, userId, after.rule_id, after.key, pageOf],
    );
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  }
}

export async function* listEmailTraces(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<EmailTrace[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: EmailTrace[] = await tx.query<EmailTrace>(
      `SELECT draft_id, id, rule_id, address, state, reason, claimed_at, ended_at FROM beckon.email
       WHERE project_id = $1 AND external_user_id = $2 AND draft_id > $3::uuid ORDER BY draft_id LIMIT $4`,
      [projectId, userId, after, pageOf],
    );
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.draft_id;
  }
}

type PagedPerson = { projectId: number; userId: string; pageOf: number };

export async function* listAllOutcomes(tx: Tx, person: PagedPerson): AsyncGenerator<Outcome[], void, void> {
  const { pageOf, ...key } = person;
  let after: Outcome | undefined;
  do {
    const page: Outcome[] = await listOutcomesOf(tx, { ...key, limit: pageOf, after: after ?? null });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  } while (after);
}

/** The link targets of an email and the number of its hits. */
type LinkTrace = { email_id: string; opens: boolean; urls: string[]; hits: number };

export function listLinkTraces(tx: Tx, person: PagedPerson): AsyncGenerator<LinkTrace[], void, void> {
  return byEmail<LinkTrace>(person, (after) =>
    tx.query(
      `SELECT l.email_id, l.opens, l.urls, coalesce(c.hits, 0) AS hits FROM beckon.tracking_link l
       LEFT JOIN beckon.hit_count c ON c.project_id = l.project_id AND c.email_id = l.email_id
       WHERE l.project_id = $1 AND l.external_user_id = $2 AND l.email_id > $3::uuid ORDER BY l.email_id LIMIT $4`,
      [person.projectId, person.userId, after, person.pageOf],
    ),
  );
}

type HitTrace = {
  email_id: string;
  hits: {
    kind: string;
    link: number | null;
    at: string;
    bot: string | null;
    bot_reason: string | null;
    agent: string | null;
    remote: string | null;
  }[];
};

/** Lists emails with all their hits, at most a hundred each. */
export function listHitTraces(tx: Tx, person: PagedPerson): AsyncGenerator<HitTrace[], void, void> {
  return byEmail<HitTrace>(person, (after) =>
    tx.query(
      `SELECT c.email_id, (
         SELECT coalesce(json_agg(json_build_object('kind', h.kind, 'link', h.link, 'at', h.at, 'bot', h.bot,
           'bot_reason', h.bot_reason, 'agent', h.agent, 'remote', h.remote) ORDER BY h.at, h.number), '[]')
         FROM beckon.hit h WHERE h.project_id = c.project_id AND h.email_id = c.email_id) AS hits
       FROM beckon.hit_count c
       WHERE c.project_id = $1 AND c.external_user_id = $2 AND c.email_id > $3::uuid ORDER BY c.email_id LIMIT $4`,
      [person.projectId, person.userId, after, person.pageOf],
    ),
  );
}

async function* byEmail<T extends { email_id: string }>(
  { pageOf }: PagedPerson,
  listPage: (after: string) => Promise<T[]>,
): AsyncGenerator<T[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: T[] = await listPage(after);
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.email_id;
  }
}
