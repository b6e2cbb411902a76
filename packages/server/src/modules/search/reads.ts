import type { Found } from '@beckon/contract/dashboard';
import type { Tx } from '../../platform/db/statements.ts';

/** `pattern` and `prefix`: the text for LIKE, anywhere and at the beginning. */
export type SearchQuery = {
  projectId: number;
  text: string;
  pattern: string;
  prefix: string;
  mayReadWebhooks: boolean;
  limit: number;
};

type UserRow = { external_user_id: string; name: string | null; email: string | null };

/** Finds users by the beginning of their id or address, exact matches first. Reads tables of the module `users` by their indexes. */
export async function findUsers(tx: Tx, query: SearchQuery): Promise<Found[]> {
  const { projectId, text, prefix, limit } = query;
  const rows = await tx.query<UserRow>(
    `SELECT p.external_user_id, p.name, e.email
     FROM (
       (SELECT external_user_id FROM beckon.person WHERE project_id = $1 AND external_user_id LIKE $2::text
        ORDER BY external_user_id LIMIT $5)
       UNION
       (SELECT external_user_id FROM beckon.person_email WHERE project_id = $1 AND email_lower LIKE $3::text
        ORDER BY email_lower LIMIT $5)
     ) found
     JOIN beckon.person p ON p.project_id = $1 AND p.external_user_id = found.external_user_id
     LEFT JOIN beckon.person_email e ON e.project_id = $1 AND e.external_user_id = found.external_user_id
     ORDER BY (p.external_user_id = $4 OR coalesce(e.email_lower = lower($4), false)) DESC, p.external_user_id
     LIMIT $5`,
    [projectId, prefix, prefix.toLowerCase(), text, limit],
  );
  return rows.map(userFound);
}

/**
 * Finds users by a part of their name. No index has the names, because it would make each new user slower. So users are read until enough are
 * found or the time is over. Reads tables of the module `users`.
 */
export async function findUsersByName(tx: Tx, query: SearchQuery): Promise<Found[]> {
  const { projectId, pattern, limit } = query;
  const rows = await tx.query<UserRow>(
    `SELECT found.*, (SELECT e.email FROM beckon.person_email e
                      WHERE e.project_id = $1 AND e.external_user_id = found.external_user_id) AS email
     FROM (
       SELECT external_user_id, name FROM beckon.person WHERE project_id = $1 AND name ILIKE ANY ($2::text[]) LIMIT $3
     ) found ORDER BY found.name`,
    [projectId, casesOf(pattern), limit],
  );
  return rows.map(userFound);
}

function userFound({ external_user_id: id, name, email }: UserRow): Found {
  const label = name === null || name.trim() === '' ? id : name;
  const detail = [...(email === null ? [] : [email]), ...(label === id ? [] : [id])].join(' · ');
  return { kind: 'user', id, label, detail: detail === '' ? null : detail };
}

/** Finds the project's definitions by a part of their name. Each project has few of them. Reads tables of five other modules. */
export function findNamed(tx: Tx, query: SearchQuery): Promise<Found[]> {
  const { projectId, pattern, mayReadWebhooks, limit } = query;
  return tx.query<Found>(
    `(SELECT 'rule' AS kind, id::text, name AS label, NULL AS detail FROM beckon.rule
      WHERE project_id = $1 AND name ILIKE ANY ($2::text[]) ORDER BY name LIMIT $4)
     UNION ALL
     (SELECT 'audience', id::text, name, NULL FROM beckon.audience
      WHERE project_id = $1 AND name ILIKE ANY ($2::text[]) ORDER BY name LIMIT $4)
     UNION ALL
     (SELECT 'template', name, name, NULL FROM beckon.template
      WHERE project_id = $1 AND name ILIKE ANY ($2::text[]) ORDER BY name LIMIT $4)
     UNION ALL
     (SELECT 'event', name, name, NULL FROM beckon.event_volume
      WHERE project_id = $1 AND name ILIKE ANY ($2::text[]) GROUP BY name ORDER BY sum(count) DESC, name LIMIT $4)
     UNION ALL
     (SELECT 'webhook', id::text, url, nullif(description, '') FROM beckon.webhook_endpoint
      WHERE project_id = $1 AND $3 AND (url ILIKE ANY ($2::text[]) OR description ILIKE ANY ($2::text[]))
      ORDER BY created_at LIMIT $4)`,
    [projectId, casesOf(pattern), mayReadWebhooks, limit],
  );
}

/** Older emails are found by their id alone, or on the page of their user. */
const EMAILS_READ = 5_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Finds drafts and sent emails: by their id, and the latest by a part of their subject or by the id of their user. Reads tables of the
 * modules `drafts` and `sending`.
 */
export async function findEmails(tx: Tx, query: SearchQuery): Promise<Found[]> {
  const { projectId, text, pattern, limit } = query;
  const rows = await tx.query<{ id: string; subject: string; external_user_id: string }>(
    `SELECT d.id, d.subject, d.external_user_id FROM beckon.draft d
     WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[] || ARRAY(
       SELECT e.draft_id FROM beckon.email e WHERE e.project_id = $1 AND e.id = ANY ($2::uuid[])))
     UNION ALL
     (SELECT d.id, d.subject, d.external_user_id FROM (
        SELECT id, subject, external_user_id, created_at FROM beckon.draft WHERE project_id = $1
        ORDER BY created_at DESC, id DESC LIMIT ${EMAILS_READ}
      ) d WHERE d.subject ILIKE ANY ($3::text[]) OR d.external_user_id = $4 ORDER BY d.created_at DESC, d.id DESC LIMIT $5)`,
    [projectId, UUID.test(text) ? [text] : [], casesOf(pattern), text, limit],
  );
  return rows.map(({ id, subject, external_user_id: user }) => ({
    kind: 'email',
    id,
    label: subject === '' ? 'No subject yet' : subject,
    detail: `to ${user}`,
  }));
}

/** ILIKE ignores the case of ASCII letters alone in columns that are compared by bytes. The other letters are compared in their usual cases. */
function casesOf(pattern: string): string[] {
  const lower = pattern.toLowerCase();
  const title = lower.replaceAll(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([pattern, lower, title, pattern.toUpperCase()])];
}
