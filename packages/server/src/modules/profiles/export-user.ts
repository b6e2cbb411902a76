import {
  listAudiencesOf,
  listDraftHistories,
  ruleNames,
  decisionView,
  eventView,
  runView,
  draftHistoryView,
} from '../explain/index.ts';
import { listReplies, type Reply } from '../inbound/index.ts';
import { outcomeView } from '../outcomes/index.ts';
import {
  listAllOutcomes,
  listEntryTraces,
  listHitTraces,
  listLinkTraces,
  listEmailTraces,
  listTimerTraces,
} from './traces-of-user.ts';
import { listDecisionsOf, listRunsOf } from '../rules/index.ts';
import { findTopicUnsubscribes, findSuppressions } from '../sending/index.ts';
import {
  isStorable,
  listAll,
  listDeadLettersOf,
  listNoted,
  type PersonId,
  type PersonView,
  showPerson,
  unknownPerson,
} from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { listWholeMailOf, type WholeMail } from '../review/index.ts';

/** With the largest possible records, a page has about ten megabytes. */
const PAGE = 200;

/**
 * Yields all data about a user as pieces of text that form one JSON value together, also with white space between them. It has the data
 * that is shown about the user, and in addition:
 *
 * - all events (by name, and within a name by time)
 * - whole drafts with their moves
 * - the state that rules keep
 * - the outcomes of the emails, with the webhooks that reported them
 * - all change stream entries
 * - the dead-lettered records
 *
 * Only a page is held in memory. A user with nothing but dead-lettered records has no email, no traits and no times.
 */
export async function* exportPerson(
  tx: Tx,
  { projectId, userId }: PersonId,
): AsyncGenerator<string, void, void> {
  const query = { projectId, userId, pageOf: PAGE };
  const person = await showPerson(tx, query);
  if (!person && !(await hasDeadLetters(tx, { projectId, userId }))) throw unknownPerson(userId);
  const head = JSON.stringify({
    ...(person ?? emptyPerson(userId)),
    audiences: await listAudiencesOf(tx, query),
    suppression: await findSuppression(tx, { projectId, userId, address: person?.email ?? null }),
    unsubscribed_topics: await findRefused(tx, { projectId, userId, address: person?.email ?? null }),
  });
  yield `${head.slice(0, -1)},`;
  yield* field('events', listAll(tx, query), eventView);
  yield ',';
  yield* emails(tx, query);
  yield ',';
  yield* outcomes(tx, query);
  yield ',';
  yield* field('changes', listNoted(tx, query), (row) => row);
  yield ',';
  yield* field('dead_letters', listDeadLettersOf(tx, query), (row) => row);
  yield '}';
}

/** Limit for rows that cannot be read in pages, above any real number. A row is short, and each one requires a decision of its own. */
const ROWS_MAX = 100_000;

async function* emails(tx: Tx, query: PersonId & { pageOf: number }): AsyncGenerator<string, void, void> {
  const { projectId, userId } = query;
  const names = await ruleNames(tx, projectId);
  const all = { projectId, userId, limit: ROWS_MAX };
  const named = <T extends { rule_id: string }>({ rule_id: id, ...row }: T): object => ({
    rule: names(id),
    ...row,
  });
  yield* field('drafts', listDraftHistories(tx, query), (draft) => draftHistoryView(draft, names));
  yield ',';
  yield* field('decisions', singlePage(listDecisionsOf(tx, all)), (row) => decisionView(row, names));
  yield ',';
  yield* field('runs', singlePage(listRunsOf(tx, all)), (run) => runView(run, names));
  yield ',';
  yield* field('enrollments', listEntryTraces(tx, query), named);
  yield ',';
  yield* field('timers', listTimerTraces(tx, query), named);
  yield ',';
  yield* field('emails', listEmailTraces(tx, query), named);
  yield ',';
  yield* field('test_inbox', listWholeMailOf(tx, { projectId, userId, pageOf: MAIL_PAGE }), exportedEmail);
}

/** Whole emails: with the largest possible ones, a page also has about ten megabytes. */
const MAIL_PAGE = 10;

function exportedEmail({ id, copy, draftId, rcptTo, subject, at, raw }: WholeMail): object {
  return { id, copy, draft_id: draftId, to: rcptTo, subject, at: iso(at), raw: raw.toString('utf8') };
}

async function* outcomes(tx: Tx, query: PersonId & { pageOf: number }): AsyncGenerator<string, void, void> {
  const names = await ruleNames(tx, query.projectId);
  yield* field('outcomes', listAllOutcomes(tx, query), (outcome) => outcomeView(outcome, names));
  yield ',';
  yield* field('links', listLinkTraces(tx, query), (link) => link);
  yield ',';
  yield* field('hits', listHitTraces(tx, query), (email) => email);
  yield ',';
  yield* field('replies', listAllReplies(tx, query), exportedReply);
  yield ',';
  yield* field('webhooks', listWebhooksOf(tx, query), exportedWebhook);
}

async function* listAllReplies(
  tx: Tx,
  { projectId, userId, pageOf }: PersonId & { pageOf: number },
): AsyncGenerator<Reply[], void, void> {
  let after: Reply | undefined;
  do {
    const page: Reply[] = await listReplies(tx, { projectId, userId, after: after ?? null, limit: pageOf });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  } while (after);
}

function exportedReply({ id, emailId, draftId, kind, verified, receivedAt, ...content }: Reply): object {
  const { fromAddress, fromName, subject, text, forwardedAt } = content;
  return {
    id,
    email_id: emailId,
    draft_id: draftId,
    kind,
    verified,
    received_at: iso(receivedAt),
    from: fromAddress,
    from_name: fromName,
    subject,
    text,
    forwarded_at: isoOrNull(forwardedAt),
  };
}

function exportedWebhook({ id, type, created_at: at, body }: WebhookTrace): object {
  return { id, type, created_at: at.toISOString(), body };
}

async function* singlePage<T>(rows: Promise<T[]>): AsyncGenerator<T[], void, void> {
  yield await rows;
}

type Addressee = PersonId & { address: string | null };

/** Returns the suppression of the user or of their address, including one that has ended. */
async function findSuppression(tx: Tx, addressee: Addressee): Promise<object | null> {
  const [found] = isStorable(addressee.userId) ? await findSuppressions(tx, [addressee], 0) : [];
  return found ? { reason: found.reason, until: isoOrNull(found.until) } : null;
}

/** Returns the topics that the user, or their address, has refused. */
async function findRefused(tx: Tx, addressee: Addressee): Promise<string[]> {
  const [found] = isStorable(addressee.userId) ? await findTopicUnsubscribes(tx, [addressee]) : [];
  return [...(found ?? [])].toSorted();
}

async function* field<T>(
  name: string,
  pages: AsyncGenerator<T[], void, void>,
  format: (row: T) => unknown,
): AsyncGenerator<string, void, void> {
  yield `${JSON.stringify(name)}:[`;
  let isFirst = true;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const rows = page.map((row) => JSON.stringify(format(row))).join(',\n');
    yield isFirst ? rows : `,${rows}`;
    isFirst = false;
  }
  yield ']';
}

async function hasDeadLetters(tx: Tx, person: PersonId): Promise<boolean> {
  if (!isStorable(person.userId)) return false;
  for await (const page of listDeadLettersOf(tx, { ...person, pageOf: 1 })) return page.length > 0;
  return false;
}

function emptyPerson(userId: string): Record<keyof PersonView, unknown> {
  return {
    external_user_id: userId,
    email: null,
    traits: {},
    suppressTriggersUntil: null,
    triggersLiveSince: null,
    first_seen_at: null,
    last_seen_at: null,
  };
}

/** A webhook event about a user, for a data export. */
type WebhookTrace = { id: string; type: string; created_at: Date; body: string };

/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Yields them page by page, in the order of their ids. */
async function* listWebhooksOf(
  tx: Tx,
  { projectId, userId, pageOf }: { projectId: number; userId: string; pageOf: number },
): AsyncGenerator<WebhookTrace[], void, void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) {
    const page: WebhookTrace[] = await tx.query<WebhookTrace>(
      `SELECT id, type, created_at, body FROM beckon.webhook
       WHERE project_id = $1 AND external_user_id = $2 AND id > $3::uuid ORDER BY id LIMIT $4`,
      [projectId, userId, after, pageOf],
    );
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1)?.id;
  }
}
