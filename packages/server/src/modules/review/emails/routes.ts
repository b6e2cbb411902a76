import { EMAIL_OUTCOMES, EMAIL_STATES } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import { plainCell } from '../../../platform/text/csv.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Filter } from '../../../platform/filter/filter.ts';
import { momentFaults } from '../../../platform/filter/moments.ts';
import { parseFilter } from '../../../platform/filter/parse.ts';
import { countEmails, type EmailRecord, type EmailCursor, listEmails } from '../../sending/index.ts';
import { showEmail, showEmailBytes } from './show-email.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { withReason, toEmailWhole, withoutPixel } from './email-view.ts';
import {
  getSettings,
  readPage,
  timeAndId,
  toPage,
  sendEmail,
  type DashboardRoute,
  routesFor,
  sendPieces,
  type KitDeps,
} from '../../workspace/index.ts';
import { redactFor } from './redact-email.ts';
import type { SendServices } from '../../delivery/index.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type Deps = KitDeps & { sendServices: SendServices; openOutbound: () => Outbound };
const { route } = routesFor<Deps>();

export const emailRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/emails', {
    needs: 'viewer',
    async handle({ db }, { projectId, query }) {
      const filter = readEmailFilter(query.filter ?? '');
      const page = readPage(query, 2);
      const after = page.after && timeAndId(page.after);
      const { offset, rowsMax: limit, most } = page;
      const zone = await zoneOf(db, projectId);
      const rows = await listEmails(db, { projectId, filter, zone, after, offset, limit });
      const total = await countEmails(db, { projectId, filter, zone, most });
      const cursorOf = (email: EmailRecord): string[] => [String(Date.parse(email.claimed_at)), email.id];
      return toPage(rows, page, { show: withReason, cursorOf, total });
    },
  }),
  route('GET /projects/:project/emails/export', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'emails.export',
    async handle({ db }, { projectId, query, reply }) {
      const filter = readEmailFilter(query.filter ?? '');
      const file = { name: 'emails.csv', type: 'text/csv; charset=utf-8' };
      const zone = await zoneOf(db, projectId);
      return sendPieces(reply, file, linesOf(db, { projectId, filter, zone }));
    },
  }),
  route('GET /projects/:project/emails/:email', {
    needs: 'viewer',
    async handle({ db, sendServices: { renderer } }, { projectId, params, role }) {
      const view = await showEmail({ tx: db, renderer }, { projectId, id: params.email });
      return { data: toEmailWhole(view, redactFor(role, { draftId: view.email.draft_id })) };
    },
  }),
  route('GET /projects/:project/emails/:email/email.html', {
    needs: 'viewer',
    async handle({ db, openOutbound, sendServices }, { projectId, params, query, role, reply }) {
      const { email, mime } = await showEmailBytes(db, { projectId, id: params.email });
      const mail = await sendServices.renderer.run('readMail', mime, { projectId });
      const html = redactFor(role, { draftId: email.draft_id })(withoutPixel(mail.html));
      return sendEmail({ openOutbound }, reply, { html, ...query });
    },
  }),
  route('GET /projects/:project/emails/:email/eml', {
    needs: 'editor',
    async handle({ db }, { projectId, params, reply }) {
      const { email, mime } = await showEmailBytes(db, { projectId, id: params.email });
      return sendPieces(reply, { name: `${email.id}.eml`, type: 'message/rfc822' }, [mime]);
    },
  }),
];

const VOCABULARY = {
  state: { values: EMAIL_STATES },
  rule: {},
  template: {},
  user: {},
  address: {},
  domain: {},
  provider: {},
  reason: {},
  outcome: { values: EMAIL_OUTCOMES },
  ended: {},
  sent: {},
  resent: { values: ['yes', 'no'] },
};

function readEmailFilter(text: string): Filter {
  const parsed = parseFilter(text, VOCABULARY);
  const faults = parsed.ok
    ? parsed.filter.terms.filter(({ key }) => key === 'ended' || key === 'sent').flatMap(momentFaults)
    : parsed.faults;
  if (!parsed.ok || faults.length > 0) throw new Fault('validation_failed', { details: faults });
  return parsed.filter;
}

/** Days in a filter are days of the project, like the times in the list. */
async function zoneOf(tx: Tx, projectId: number): Promise<string> {
  return (await getSettings(tx, projectId)).settings.timeZone;
}

const EXPORT_PAGE = 1_000;
const EXPORT_MAX = 1_000_000;

type ExportQuery = { projectId: number; filter: Filter; zone: string };

async function* linesOf(tx: Tx, query: ExportQuery) {
  yield `${csvLine(CSV_COLUMNS)}\n`;
  let after: EmailCursor | null = null;
  for (let lines = 0; lines < EXPORT_MAX; lines += EXPORT_PAGE) {
    const page: EmailRecord[] = await listEmails(tx, { ...query, after, offset: 0, limit: EXPORT_PAGE });
    if (page.length > 0) yield `${page.map(csvOf).join('\n')}\n`;
    const last = page.at(-1);
    if (!last || page.length < EXPORT_PAGE) return;
    after = { at: Date.parse(last.claimed_at), id: last.id };
  }
}

const CSV_COLUMNS = [
  'id',
  'claimed_at',
  'ended_at',
  'state',
  'reason',
  'rule',
  'template',
  'user',
  'address',
  'subject',
  'domain',
  'provider',
  'attempts',
  'reply',
  'outcomes',
];

function csvOf(email: EmailRecord): string {
  const cells = [
    email.rule,
    email.template,
    email.external_user_id,
    email.address,
    email.subject,
    email.domain,
  ];
  return csvLine([
    email.id,
    email.claimed_at,
    email.ended_at,
    email.state,
    email.reason,
    ...cells.map((cell) => cell && plainCell(cell)),
    email.provider,
    String(email.attempts),
    email.reply && plainCell(email.reply),
    email.outcomes.join(' '),
  ]);
}
