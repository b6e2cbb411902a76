import { FILTER_KEYS, type ListResponse, type ReplyListed } from '@beckon/contract/dashboard';
import { readFilter } from '../../../platform/filter/parse.ts';
import type { Database } from '../../../platform/db/database.ts';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { isStorable } from '../../users/index.ts';
import {
  type CsvColumns,
  getSettings,
  isId,
  type ListQuery,
  readPage,
  sendCsv,
  timeAndId,
  toPage,
  type DashboardRoute,
  routesFor,
  zoneOfProject,
} from '../../workspace/index.ts';
import {
  countListedReplies,
  findReply,
  listReplies,
  listThread,
  forwardAgain,
  type Reply,
} from '../../inbound/index.ts';
import { findEmail } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { toReplyListed } from './email-view.ts';

const { route } = routesFor();

/** The list shows this much of a reply; the thread has all of it. */
const LISTED_CHARS = 300;

export const replyRoutes: DashboardRoute[] = [
  route('GET /projects/:project/replies', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query }) => replyPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/replies.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'replies.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'replies.csv',
        columns: CSV_COLUMNS,
        load: (page) => replyPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/replies/:reply', {
    needs: 'viewer',
    async handle({ db }, { projectId, params }) {
      const reply = await requireReply(db, projectId, params.reply);
      const { emailId } = reply;
      const email = await findEmail(db, { projectId, id: emailId });
      const thread = await listThread(db, { projectId, emailId });
      return {
        data: {
          reply: toReplyListed(reply),
          email: email
            ? {
                id: email.id,
                draft_id: email.draft_id,
                rule: email.rule,
                subject: email.subject,
                address: email.address,
                claimed_at: email.claimed_at,
              }
            : null,
          thread: thread.map(toReplyListed),
          forward_to: (await getSettings(db, projectId)).settings.replyForwardTo,
        },
      };
    },
  }),
  route('POST /projects/:project/replies/:reply/forward', {
    needs: 'reviewer',
    audit: 'reply.forward',
    async handle({ db }, { projectId, params, note }) {
      const { id } = await requireReply(db, projectId, params.reply);
      const { settings } = await getSettings(db, projectId);
      if (settings.replyForwardTo === null) throw noForwardAddress();
      const at = db.clock.now();
      if (!(await forwardAgain(db, { projectId, id, at }))) throw notForwarded();
      note({ subject: id });
      return { data: { id, forward_at: iso(at) } };
    },
  }),
];

async function requireReply(tx: Tx, projectId: number, reference: string): Promise<Reply> {
  const id = reference.toLowerCase();
  const found = isId(id) ? await findReply(tx, { projectId, id }) : undefined;
  if (found) return found;
  const message = `This project has no reply ${JSON.stringify(reference)}`;
  throw new Fault('not_found', { details: [{ message, field: 'reply' }] });
}

function noForwardAddress(): Fault {
  const message = 'Replies are not forwarded yet. Set reply_forward_to to an email address';
  return new Fault('conflict', { details: [{ message, field: 'reply' }] });
}

function notForwarded(): Fault {
  const message = 'The reply is not forwarded, because its sender could not be verified';
  return new Fault('conflict', { details: [{ message, field: 'reply' }] });
}

type RepliesQuery = ListQuery & { projectId: number; filter?: string; user?: string };

async function replyPage(
  db: Database,
  { projectId, filter: text, user: userId, ...query }: RepliesQuery,
): Promise<ListResponse<ReplyListed>> {
  const filter = readFilter(text, FILTER_KEYS.replies, await zoneOfProject(db, projectId));
  const page = readPage(query, 2);
  const cursor = page.after && timeAndId(page.after);
  const after = cursor && { receivedAt: cursor.at, id: cursor.id };
  const none = userId !== undefined && !isStorable(userId);
  const list = { projectId, userId: userId ?? null, filter };
  const rows = none ? [] : await listReplies(db, { ...list, after, limit: page.offset + page.rowsMax });
  const total = none ? 0 : await countListedReplies(db, { ...list, most: page.most });
  return toPage(rows.slice(page.offset), page, {
    show: (reply: Reply) => toReplyListed({ ...reply, text: reply.text.slice(0, LISTED_CHARS) }),
    cursorOf: ({ receivedAt, id }: Reply) => [String(receivedAt), id],
    total,
  });
}

const CSV_COLUMNS: CsvColumns<ReplyListed> = {
  id: ({ id }) => id,
  received_at: ({ received_at: at }) => at,
  user: ({ external_user_id: user }) => user,
  from: ({ from }) => from,
  from_name: ({ from_name: name }) => name,
  subject: ({ subject }) => subject,
  text: ({ text }) => text,
  auto_reply: ({ auto_reply: isAutomatic }) => isAutomatic,
  verified: ({ verified }) => verified,
  forwarded: ({ forward }) => forward,
  email_id: ({ email_id: id }) => id,
};
