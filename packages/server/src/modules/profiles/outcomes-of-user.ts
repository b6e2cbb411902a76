import type { Tx } from '../../platform/db/statements.ts';
import { type Outcome, listOutcomesOf } from '../outcomes/index.ts';

/** Lists the stored tracking data of a user's emails page by page, for a data export. */
type Person = { projectId: number; userId: string; pageOf: number };

export async function* listAllOutcomes(tx: Tx, person: Person): AsyncGenerator<Outcome[], void, void> {
  const { pageOf, ...wanted } = person;
  let after: Outcome | undefined;
  do {
    const page: Outcome[] = await listOutcomesOf(tx, { ...wanted, limit: pageOf, after: after ?? null });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  } while (after);
}

/** The link targets of an email and the number of its hits. */
export type LinkTrace = { message_id: string; opens: boolean; urls: string[]; hits: number };

export function listLinkTraces(tx: Tx, person: Person): AsyncGenerator<LinkTrace[], void, void> {
  return byLetter<LinkTrace>(person, (after) =>
    tx.query(
      `SELECT l.message_id, l.opens, l.urls, coalesce(c.hits, 0) AS hits FROM beckon.tracking_link l
       LEFT JOIN beckon.hit_count c ON c.project_id = l.project_id AND c.message_id = l.message_id
       WHERE l.project_id = $1 AND l.external_user_id = $2 AND l.message_id > $3::uuid ORDER BY l.message_id LIMIT $4`,
      [person.projectId, person.userId, after, person.pageOf],
    ),
  );
}

export type HitTrace = {
  message_id: string;
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
export function listHitTraces(tx: Tx, person: Person): AsyncGenerator<HitTrace[], void, void> {
  return byLetter<HitTrace>(person, (after) =>
    tx.query(
      `SELECT c.message_id, (
         SELECT coalesce(json_agg(json_build_object('kind', h.kind, 'link', h.link, 'at', h.at, 'bot', h.bot,
           'bot_reason', h.bot_reason, 'agent', h.agent, 'remote', h.remote) ORDER BY h.at, h.number), '[]')
         FROM beckon.hit h WHERE h.project_id = c.project_id AND h.message_id = c.message_id) AS hits
       FROM beckon.hit_count c
       WHERE c.project_id = $1 AND c.external_user_id = $2 AND c.message_id > $3::uuid ORDER BY c.message_id LIMIT $4`,
      [person.projectId, person.userId, after, person.pageOf],
    ),
  );
}

/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

async function* byLetter<T extends { message_id: string }>(
  { pageOf }: Person,
  ask: (after: string) => Promise<T[]>,
): AsyncGenerator<T[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: T[] = await ask(after);
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.message_id;
  }
}
