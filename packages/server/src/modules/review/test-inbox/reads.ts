import type { FILTER_KEYS } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  NO_FILTER,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
import { type KeptMail, TEST_INBOX_PAGE_MAX, unpackMail } from './mail.ts';
import type { MailCursor } from './store.ts';

type Row = {
  id: string;
  copy: number;
  copies: number;
  draft_id: string | null;
  user_id: string | null;
  mail_from: string;
  rcpt_to: string;
  subject: string;
  size: number;
  at: Date;
};

/** Counts the copies of an email by the primary key, which costs as much as there are copies: usually one. */
const COLUMNS = `m.id, m.copy, m.draft_id, m.external_user_id AS user_id, m.mail_from, m.rcpt_to, m.subject, m.size, m.at,
  (SELECT count(*)::int FROM beckon.test_inbox_email c WHERE c.project_id = m.project_id AND c.id = m.id) AS copies`;

export type MailPage = {
  projectId: number;
  userId?: string | null;
  draftId?: string | null;
  filter?: Filter;
  /** The last email of the previous page. */
  after?: MailCursor | null;
  limit: number;
};

/** Returns one page of emails, newest first. */
export async function listMail(tx: Tx, page: MailPage): Promise<KeptMail[]> {
  const { projectId, userId = null, draftId = null, filter = NO_FILTER, after = null, limit } = page;
  const values: unknown[] = [
    projectId,
    userId,
    draftId,
    after === null ? null : new Date(after.at),
    after?.id ?? null,
    after?.copy ?? null,
    Math.min(limit, TEST_INBOX_PAGE_MAX),
  ];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM beckon.test_inbox_email m
     WHERE m.project_id = $1 AND ($2::text IS NULL OR m.external_user_id = $2) AND ($3::uuid IS NULL OR m.draft_id = $3)
       AND ($4::timestamptz IS NULL OR (m.at, m.id, m.copy) < ($4, $5::uuid, $6::int)) AND ${where}
     ORDER BY m.at DESC, m.id DESC, m.copy DESC LIMIT $7`,
    values,
  );
  return rows.map((row) => toMail(projectId, row));
}

/** Counts the emails, up to `most`. */
export async function countMail(
  tx: Tx,
  query: Pick<MailPage, 'projectId' | 'userId' | 'draftId' | 'filter'> & { most: number },
): Promise<number> {
  const { projectId, userId = null, draftId = null, filter = NO_FILTER, most } = query;
  const values: unknown[] = [projectId, userId, draftId, most];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [row] = await tx.query<{ mails: number }>(
    `SELECT count(*) AS mails FROM (
       SELECT 1 FROM beckon.test_inbox_email m
       WHERE m.project_id = $1 AND ($2::text IS NULL OR m.external_user_id = $2) AND ($3::uuid IS NULL OR m.draft_id = $3)
         AND ${where} LIMIT $4) counted`,
    values,
  );
  return row?.mails ?? 0;
}

const FILTERED: Record<keyof typeof FILTER_KEYS.test_inbox | typeof WORDS, FilterColumn> = {
  user: { sql: 'm.external_user_id' },
  to: { sql: 'm.rcpt_to' },
  subject: { sql: 'm.subject' },
  kind: { sql: `CASE WHEN m.draft_id IS NULL THEN 'team' ELSE 'user' END`, among: ['user', 'team'] },
  received: { sql: 'm.at', isTime: true },
  [WORDS]: wordsColumn(['m.external_user_id', 'm.rcpt_to', 'm.subject']),
};

export type WholeMail = KeptMail & { raw: Buffer };

/** Returns one copy of an email with all its bytes. */
export async function findMail(
  tx: Tx,
  { projectId, id, copy }: Pick<KeptMail, 'projectId' | 'id' | 'copy'>,
): Promise<WholeMail | undefined> {
  const rows = await tx.query<WholeRow>(
    `SELECT ${COLUMNS}, m.raw FROM beckon.test_inbox_email m WHERE m.project_id = $1 AND m.id = $2 AND m.copy = $3`,
    [projectId, id, copy],
  );
  const [row] = rows;
  return row && toWhole(projectId, row);
}

/** Yields the emails to one user in pages, newest first, for a data export. */
export async function* listWholeMailOf(
  tx: Tx,
  { projectId, userId, pageOf }: { projectId: number; userId: string; pageOf: number },
): AsyncGenerator<WholeMail[], void, void> {
  let after: MailCursor | undefined = AFTER_ALL;
  while (after) {
    const rows: WholeRow[] = await tx.query<WholeRow>(
      `SELECT ${COLUMNS}, m.raw FROM beckon.test_inbox_email m
       WHERE m.project_id = $1 AND m.external_user_id = $2 AND (m.at, m.id, m.copy) < ($3::timestamptz, $4::uuid, $5::int)
       ORDER BY m.at DESC, m.id DESC, m.copy DESC LIMIT $6`,
      [projectId, userId, new Date(after.at), after.id, after.copy, pageOf],
    );
    const page = rows.map((row) => toWhole(projectId, row));
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  }
}

const AFTER_ALL: MailCursor = { at: Date.UTC(9999, 0), id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', copy: 1 };

type WholeRow = Row & { raw: Buffer };

function toWhole(projectId: number, row: WholeRow): WholeMail {
  return { ...toMail(projectId, row), raw: unpackMail(row.raw) };
}

function toMail(projectId: number, row: Row): KeptMail {
  return {
    projectId,
    id: row.id,
    copy: row.copy,
    copies: row.copies,
    draftId: row.draft_id,
    userId: row.user_id,
    mailFrom: row.mail_from,
    rcptTo: row.rcpt_to,
    subject: row.subject,
    size: row.size,
    at: row.at.getTime(),
  };
}
