import type { Tx } from '../../platform/db/statements.ts';

/** A webhook event about a user, for a data export. */
export type WebhookTrace = { id: string; type: string; created_at: Date; body: string };

/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Yields them page by page, in the order of their ids. */
export async function* listMessagesOf(
  tx: Tx,
  { projectId, userId, pageOf }: { projectId: number; userId: string; pageOf: number },
): AsyncGenerator<WebhookTrace[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: WebhookTrace[] = await tx.query<WebhookTrace>(
      `SELECT id, type, created_at, body FROM beckon.webhook_message
       WHERE project_id = $1 AND external_user_id = $2 AND id > $3::uuid ORDER BY id LIMIT $4`,
      [projectId, userId, after, pageOf],
    );
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.id;
  }
}
