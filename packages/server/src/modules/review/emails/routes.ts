import { type EmailListed, FILTER_KEYS, type ListResponse, type SortOf } from '@beckon/contract/dashboard';
import { readFilter } from '../../../platform/filter/parse.ts';
import { countEmails, type EmailRecord, listEmails } from '../../sending/index.ts';
import { showEmail, showEmailBytes } from './show-email.ts';
import type { Database } from '../../../platform/db/database.ts';
import { withReason, toEmailWhole, withoutPixel } from './email-view.ts';
import {
  type CsvColumns,
  type ListQuery,
  readPage,
  sendCsv,
  timeAndId,
  toPage,
  sendEmail,
  type DashboardRoute,
  routesFor,
  sendPieces,
  type KitDeps,
  zoneOfProject,
} from '../../workspace/index.ts';
import { sendManyAgain } from './send-many-again.ts';
import { redactFor } from './redact-email.ts';
import type { SendServices } from '../../delivery/index.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type Deps = KitDeps & { sendServices: SendServices; openOutbound: () => Outbound };
const { route } = routesFor<Deps>();

type EmailsQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'emails'> };

export const emailRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/emails', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query }) => emailPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/emails/export', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'emails.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'emails.csv',
        columns: CSV_COLUMNS,
        load: (page) => emailPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/emails/send-again', {
    needs: 'reviewer',
    audit: 'email.send_again',
    async handle({ db, newId, sendServices }, { projectId, body: { emails }, actor, note }) {
      const result = await sendManyAgain({ db, newId, sendServices }, { projectId, emails, actor });
      const refused = result.refused.reduce((sum, { rows }) => sum + rows, 0);
      note({ subject: `${emails.length} emails`, after: { sent_again: result.sent_again, refused } });
      return { data: result };
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

const CSV_COLUMNS: CsvColumns<EmailListed> = {
  id: ({ id }) => id,
  claimed_at: ({ claimed_at: at }) => at,
  ended_at: ({ ended_at: at }) => at,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  rule: ({ rule }) => rule,
  template: ({ template }) => template,
  user: ({ external_user_id: user }) => user,
  address: ({ address }) => address,
  subject: ({ subject }) => subject,
  domain: ({ domain }) => domain,
  provider: ({ provider }) => provider,
  attempts: ({ attempts }) => attempts,
  reply: ({ reply }) => reply,
  outcomes: ({ outcomes }) => outcomes.join(' '),
};

async function emailPage(
  db: Database,
  { projectId, filter: text, sort = '-at', ...query }: EmailsQuery,
): Promise<ListResponse<EmailListed>> {
  const filter = readFilter(text, FILTER_KEYS.emails, await zoneOfProject(db, projectId));
  const page = readPage(query, 2);
  const after = page.after && timeAndId(page.after);
  const { offset, rowsMax: limit, most } = page;
  const rows = await listEmails(db, { projectId, filter, sort, after, offset, limit });
  const total = await countEmails(db, { projectId, filter, most });
  const cursorOf = (email: EmailRecord): string[] => [String(Date.parse(email.claimed_at)), email.id];
  return toPage(rows, page, { show: withReason, cursorOf, total });
}
