import { type Command, InvalidArgumentError } from 'commander';
import { iso } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { isStorable } from '../features/people/index.ts';
import { findProject, getSettings } from '../features/projects/index.ts';
import {
  findReply,
  forwardAgain,
  listReplies,
  listThread,
  type Reply,
  REPLIES_PAGE_MAX,
} from '../features/replies/index.ts';
import type { Tx } from '../io/db/index.ts';
import { printable } from './audience-output.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;
type OfReply = OfProject & { reply: string };

const LISTED = 1_000;
const REPLY_OPTION = ['--reply <reply>', 'its id, as reply list shows it'] as const;

export function addReplyCommands(program: Command, operator: Operator): void {
  const reply = program.command('reply').description('what people answered to letters');
  addList(reply, operator);
  addShow(reply, operator);
  addForward(reply, operator);
}

function addList(reply: Command, operator: Operator): void {
  reply
    .command('list')
    .description('list answers, those of machines too, the newest first')
    .requiredOption(...PROJECT_OPTION)
    .option('--user <user>', 'only those of this user')
    .option('--limit <number>', 'no more than so many', readCount, LISTED)
    .option(...JSON_OPTION)
    .action((options: OfProject & { user?: string; limit: number }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return (await readPages(db, projectId, options)).map(toListed);
        },
        show: (rows) => table(rows.map(toRow), NONE),
      }),
    );
}

const NONE = [
  'Nobody has answered yet, or not to us: answers come in here once the setting reply_forward_to says where they go on to.',
  'Beyond the outbox that takes MAIL_DOMAIN as well.',
].join('\n');

type Wanted = { user?: string; limit: number };

async function readPages(tx: Tx, projectId: number, { user: userId, limit: all }: Wanted): Promise<Reply[]> {
  if (userId !== undefined && !isStorable(userId)) return [];
  const found: Reply[] = [];
  while (found.length < all) {
    const limit = Math.min(all - found.length, REPLIES_PAGE_MAX);
    const after: Reply | null = found.at(-1) ?? null;
    const page = await listReplies(tx, { projectId, userId: userId ?? null, after, limit });
    found.push(...page);
    if (page.length < limit) break;
  }
  return found;
}

type Listed = ReturnType<typeof toListed>;

/** Under the names of the interface. */
function toListed(reply: Reply) {
  return {
    id: reply.id,
    draft_id: reply.draftId,
    email_id: reply.messageId,
    external_user_id: reply.userId,
    at: iso(reply.receivedAt),
    from: reply.fromAddress,
    from_name: reply.fromName,
    subject: reply.subject,
    auto_reply: reply.kind === 'auto_reply',
    verified: reply.verified,
    forwarded_at: reply.forwardedAt === null ? null : iso(reply.forwardedAt),
    forward_at: reply.forwardAt === null ? null : iso(reply.forwardAt),
    forward_error: reply.forwardError,
    text: reply.text,
  };
}

function toRow({ at, id, external_user_id, from, subject, auto_reply, verified, ...rest }: Listed) {
  return { at, id, external_user_id, from, subject, auto_reply, verified, forwarded: forwardedOf(rest) };
}

function forwardedOf(reply: Pick<Listed, 'forwarded_at' | 'forward_at' | 'forward_error'>): string {
  if (reply.forwarded_at !== null) return reply.forwarded_at;
  if (reply.forward_error !== null) return `not yet: ${reply.forward_error}`;
  return reply.forward_at === null ? 'no' : 'not yet';
}

function addShow(reply: Command, operator: Operator): void {
  reply
    .command('show')
    .description('show what was written, and everything that was answered to the same letter')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...REPLY_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfReply) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { projectId, messageId, id } = await requireReply(db, options);
          const thread = (await listThread(db, { projectId, messageId })).map(toListed);
          const shown = thread.find((one) => one.id === id);
          if (!shown) throw unknownReply(id);
          return { ...shown, thread };
        },
        show: ({ thread }) => thread.map(describe).join('\n\n'),
      }),
    );
}

function describe({ text, from_name: name, from, at, id, verified, auto_reply, ...rest }: Listed): string {
  const facts = {
    from: name === '' ? from : `${name} <${from}>`,
    at,
    subject: rest.subject,
    verified,
    bot: auto_reply ? 'yes' : 'no',
    forwarded: forwardedOf(rest),
  };
  const lines = Object.entries(facts).map(([fact, value]) => `${fact.padEnd(10)}${value}`);
  const head = [id, ...lines.map((line) => line.replaceAll('\n', ' '))].join('\n');
  return printable(`${head}\n\n${text.trimEnd()}`);
}

function addForward(reply: Command, operator: Operator): void {
  reply
    .command('forward')
    .description('hand an answer on to the team once more')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...REPLY_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfReply) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { projectId, id } = await requireReply(db, options);
          if ((await getSettings(db, projectId)).settings.replyForwardTo === null) throw toNobody();
          const at = db.clock.now();
          if (!(await forwardAgain(db, { projectId, id, at }))) throw notForwarded(id);
          return { id, forward_at: iso(at) };
        },
        show: ({ id }) => `${id} is handed on as soon as a worker gets to it`,
      }),
    );
}

async function requireReply(tx: Tx, options: OfReply): Promise<Reply> {
  const { id: projectId } = await findProject(tx, options.project);
  const id = options.reply.toLowerCase();
  const found = UUID.test(id) ? await findReply(tx, { projectId, id }) : undefined;
  if (!found) throw unknownReply(options.reply);
  return found;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function unknownReply(id: string): Fault {
  const message = `There is no answer ${JSON.stringify(id)}: reply list shows them`;
  return new Fault('not_found', { details: [{ message, field: 'reply' }] });
}

function notForwarded(id: string): Fault {
  const message = `${id} is not handed on: it is not of whom it says it is`;
  return new Fault('conflict', { details: [{ message, field: 'reply' }] });
}

function toNobody(): Fault {
  const message = 'It goes on to nobody yet: settings set reply_forward_to=team@example.com says to whom';
  return new Fault('conflict', { details: [{ message, field: 'reply' }] });
}

function readCount(text: string): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
