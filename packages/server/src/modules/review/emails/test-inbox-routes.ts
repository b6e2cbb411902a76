import {
  FILTER_KEYS,
  type ListResponse,
  type Role,
  type TestInboxEmail,
  type TestInboxEmailWhole,
} from '@beckon/contract/dashboard';
import { readFilter } from '../../../platform/filter/parse.ts';
import type { SendServices } from '../../delivery/index.ts';
import { countToRelease, nextDraftDueAt } from '../../drafts/index.ts';
import { type Redact, redactFor, redactMail, requireForPerson } from './redact-email.ts';
import { openMail, showMail, type CheckedTestEmail } from './checked-email.ts';
import type { ReadMail } from '../../sending/index.ts';
import { isStorable } from '../../users/index.ts';
import {
  badCursor,
  type DashboardRoute,
  findProject,
  isId,
  type CsvColumns,
  type KitDeps,
  type ListQuery,
  readPage,
  sendCsv,
  routesFor,
  sendEmail,
  sendPieces,
  timeAndId,
  toPage,
  zoneOfProject,
} from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import { countRemoteImages } from '../../../platform/outbound/inline-images.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { DURATION_SYNTAX, parseDuration } from '../../../platform/time/time-text.ts';
import { withoutPixel } from './email-view.ts';
import { countMail, listMail } from '../test-inbox/reads.ts';
import { deleteMailBefore } from '../test-inbox/store.ts';
import { type KeptMail, TEST_INBOX_KEPT_MAX, TEST_INBOX_KEPT_MS } from '../test-inbox/mail.ts';

type Deps = KitDeps & { sendServices: SendServices; openOutbound: () => Outbound };
const { route } = routesFor<Deps>();

const DAY_MS = 86_400_000;
/** The clock of another process may be ahead, so an email may have a slightly later time. */
const CLOCKS_DIFFER_MS = 60_000;
const SOURCE_MAX_BYTES = 256 * 1024;

export const testInboxRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/test-inbox', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query, role }) => mailPage(db, role, { projectId, ...query }),
  }),
  route('GET /projects/:project/test-inbox.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'test_inbox.export',
    handle: ({ db }, { projectId, query, role, reply }) =>
      sendCsv(reply, {
        name: 'test-inbox.csv',
        columns: CSV_COLUMNS,
        load: (page) => mailPage(db, role, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/test-inbox/state', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, sendServices }, { projectId }) {
      const { open } = await countToRelease(db, { projectId, reason: null, now: db.clock.now() });
      return {
        data: {
          in_use: sendServices.outlet.kind === 'test_inbox',
          waiting: open,
          next_at: isoOrNull(await nextDraftDueAt(db, projectId)),
          kept_max: TEST_INBOX_KEPT_MAX,
          kept_days: TEST_INBOX_KEPT_MS / DAY_MS,
        },
      };
    },
  }),
  route('POST /projects/:project/test-inbox/clear', {
    needs: 'admin',
    audit: 'test_inbox.clear',
    async handle({ db }, { projectId, body, note }) {
      const { name } = await findProject(db, String(projectId));
      if (body.confirm !== name) throw unconfirmed(name);
      const { older } = body;
      const before = db.clock.now() + (older === undefined ? CLOCKS_DIFFER_MS : -readAge(older));
      const cleared = await clearTestInbox(db, { projectId, before });
      note({ subject: name, after: { cleared, ...(older === undefined ? {} : { older }) } });
      return { data: { cleared } };
    },
  }),
  route('GET /projects/:project/test-inbox/:email', {
    needs: 'viewer',
    async handle({ db, sendServices: { renderer } }, { projectId, params, query, role }) {
      const key = { projectId, id: params.email, copy: query.copy ?? 1 };
      const view = await showMail({ db, renderer }, key);
      const mail = await renderer.run('readMail', view.mail.raw, { projectId });
      return { data: toTestInboxEmailWhole(view, mail, redactFor(role, view.mail)) };
    },
  }),
  route('GET /projects/:project/test-inbox/:email/email.html', {
    needs: 'viewer',
    async handle({ db, openOutbound, sendServices }, { projectId, params, query, role, reply }) {
      const mail = await openMail(db, { projectId, id: params.email, copy: query.copy ?? 1 });
      const read = await sendServices.renderer.run('readMail', mail.raw, { projectId });
      const html = redactFor(role, mail)(withoutPixel(read.html));
      return sendEmail({ openOutbound }, reply, { html, ...query });
    },
  }),
  route('GET /projects/:project/test-inbox/:email/source', {
    needs: 'editor',
    async handle({ db }, { projectId, params, query }) {
      const mail = await openMail(db, { projectId, id: params.email, copy: query.copy ?? 1 });
      requireForPerson(mail);
      const source = mail.raw.subarray(0, SOURCE_MAX_BYTES).toString('utf8').replaceAll('\0', '\uFFFD');
      return { data: { source, truncated: mail.raw.length > SOURCE_MAX_BYTES } };
    },
  }),
  route('GET /projects/:project/test-inbox/:email/eml', {
    needs: 'editor',
    async handle({ db }, { projectId, params, query, reply }) {
      const mail = await openMail(db, { projectId, id: params.email, copy: query.copy ?? 1 });
      requireForPerson(mail);
      return sendPieces(reply, { name: `${mail.id}.eml`, type: 'message/rfc822' }, [mail.raw]);
    },
  }),
];

type MailQuery = ListQuery & { projectId: number; filter?: string; user?: string; draft?: string };

async function mailPage(
  db: Database,
  role: Role,
  { projectId, filter: text, user, draft, ...query }: MailQuery,
): Promise<ListResponse<TestInboxEmail>> {
  const filter = readFilter(text, FILTER_KEYS.test_inbox, await zoneOfProject(db, projectId));
  const [userId, draftId] = [user ?? null, draft ?? null];
  const page = readPage(query, 3);
  const after = page.after && toCursor(page.after);
  const none = (userId !== null && !isStorable(userId)) || (draftId !== null && !isId(draftId));
  const key = { projectId, userId, draftId, filter };
  const rows = none ? [] : await listMail(db, { ...key, after, limit: page.offset + page.rowsMax });
  const total = none ? 0 : await countMail(db, { ...key, most: page.most });
  const cursorOf = ({ at, id, copy }: KeptMail): string[] => [String(at), id, String(copy)];
  return toPage(rows.slice(page.offset), page, {
    show: (mail) => toTestInboxEmail(mail, redactFor(role, mail)),
    cursorOf,
    total,
  });
}

const CSV_COLUMNS: CsvColumns<TestInboxEmail> = {
  id: ({ id }) => id,
  copy: ({ copy }) => copy,
  received_at: ({ at }) => at,
  subject: ({ subject }) => subject,
  to: ({ to }) => to,
  user: ({ external_user_id: user }) => user,
  kind: ({ kind }) => kind,
  size: ({ size }) => size,
  draft_id: ({ draft_id: id }) => id,
};

function readAge(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  const message = `older must be ${DURATION_SYNTAX}`;
  throw new Fault('validation_failed', { details: [{ message, field: 'older' }] });
}

function toCursor(parts: string[]): { at: number; id: string; copy: number } {
  const copy = Number(parts[2]);
  if (!Number.isSafeInteger(copy) || copy < 1 || copy > 1_000_000) throw badCursor();
  return { ...timeAndId(parts), copy };
}

function toTestInboxEmail(mail: KeptMail, redact: Redact): TestInboxEmail {
  const { id, copy, copies, draftId, userId, mailFrom, rcptTo, subject, size, at } = mail;
  return {
    id,
    copy,
    copies,
    draft_id: draftId,
    external_user_id: userId,
    kind: draftId === null ? 'team' : 'user',
    mail_from: redact(mailFrom),
    to: rcptTo,
    subject,
    size,
    at: iso(at),
  };
}

function toTestInboxEmailWhole(
  { mail, html, text, checks }: CheckedTestEmail,
  read: ReadMail,
  redact: Redact,
): TestInboxEmailWhole {
  const { headers } = redactMail(read, redact);
  return {
    ...toTestInboxEmail(mail, redact),
    from: read.from.map(printMailbox).join(', '),
    headers,
    text: redact(text),
    has_html: html !== '',
    remote_images: countRemoteImages(withoutPixel(html)),
    html_source: redact(html),
    checks: checks.map(({ name, status, message, detail = [] }) => ({
      name,
      status,
      message,
      detail: detail.map(redact),
    })),
  };
}

function printMailbox({ name, address }: ReadMail['from'][number]): string {
  return name === '' ? address : `${name} <${address}>`;
}

function unconfirmed(name: string): Fault {
  const message = `The emails of ${JSON.stringify(name)} are deleted permanently. Enter its name to confirm`;
  return new Fault('validation_failed', { details: [{ message, field: 'confirm' }] });
}

/** A step takes a few milliseconds. */
const STEP = 1_000;

/** Deletes the emails of a project that arrived before this time, and returns their number. Their drafts and messages stay sent. */
export async function clearTestInbox(
  db: Pick<Database, 'query' | 'prepared'>,
  { projectId, before }: { projectId: number; before: number },
): Promise<number> {
  let cleared = 0;
  let step = STEP;
  while (step === STEP) {
    step = await deleteMailBefore(db, { projectId, before, limit: STEP });
    cleared += step;
  }
  return cleared;
}
