import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { isStorable } from '../../users/index.ts';
import {
  getSettings,
  isId,
  readPage,
  timeAndId,
  toPage,
  type DashboardRoute,
  routesFor,
} from '../../workspace/index.ts';
import { findReply, listReplies, listThread, forwardAgain, type Reply } from '../../inbound/index.ts';
import { findEmail } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { toReplyListed } from './email-view.ts';

const { route } = routesFor();

/** The list shows this much of a reply; the thread has all of it. */
const LISTED_CHARS = 300;

export const replyRoutes: DashboardRoute[] = [
  route('GET /projects/:project/replies', {
    needs: 'viewer',
    async handle({ db }, { projectId, query }) {
      const page = readPage(query, 2);
      const userId = query.user ?? null;
      const cursor = page.after && timeAndId(page.after);
      const after = cursor && { receivedAt: cursor.at, id: cursor.id };
      const none = userId !== null && !isStorable(userId);
      const limit = page.offset + page.rowsMax;
      const rows = none ? [] : await listReplies(db, { projectId, userId, after, limit });
      const total = none ? 0 : await countReplies(db, { projectId, userId, most: page.most });
      return toPage(rows.slice(page.offset), page, {
        show: (reply: Reply) => toReplyListed({ ...reply, text: reply.text.slice(0, LISTED_CHARS) }),
        cursorOf: ({ receivedAt, id }: Reply) => [String(receivedAt), id],
        total,
      });
    },
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

/** Counts the replies, up to `most`. Reads a table of the inbound module. */
async function countReplies(
  tx: Tx,
  { projectId, userId, most }: { projectId: number; userId: string | null; most: number },
): Promise<number> {
  const [row] = await tx.query<{ replies: number }>(
    `SELECT count(*) AS replies FROM (
       SELECT 1 FROM beckon.reply r WHERE r.project_id = $1 AND ($2::text IS NULL OR r.external_user_id = $2) LIMIT $3
     ) counted`,
    [projectId, userId, most],
  );
  return row?.replies ?? 0;
}
