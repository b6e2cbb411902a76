import type { Tx } from '../../platform/db/statements.ts';

/** Lists other data about a user from tables of other modules: `rule_entry`, `rule_timer` and `message`. */
type Person = { projectId: number; userId: string };

export type EntryTrace = { rule_id: string; key: string; enrolled_at: Date; level: number };
export type TimerTrace = { rule_id: string; key: string; at: Date; anchor: Record<string, unknown> };
export type MessageTrace = {
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
  return byRule(tx, { ...person, table: 'rule_entry', columns: 'rule_id, key, enrolled_at, level' });
}

export function listTimerTraces(
  tx: Tx,
  person: Person & { pageOf: number },
): AsyncGenerator<TimerTrace[], void, void> {
  return byRule(tx, { ...person, table: 'rule_timer', columns: 'rule_id, key, at, anchor' });
}

type Source = Person & { pageOf: number; table: 'rule_entry' | 'rule_timer'; columns: string };

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

export async function* listMessageTraces(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<MessageTrace[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: MessageTrace[] = await tx.query<MessageTrace>(
      `SELECT draft_id, id, rule_id, address, state, reason, claimed_at, ended_at FROM beckon.message
       WHERE project_id = $1 AND external_user_id = $2 AND draft_id > $3::uuid ORDER BY draft_id LIMIT $4`,
      [projectId, userId, after, pageOf],
    );
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.draft_id;
  }
}
