import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { DURATION_SYNTAX, parseDuration } from '../base/duration.ts';
import { type KeptMail, listMail, OUTBOX_PAGE_MAX } from '../features/outbox/index.ts';
import { isStorable } from '../features/people/index.ts';
import { findProject } from '../features/projects/index.ts';
import { clearOutbox, showMail } from '../flows/outbox/index.ts';
import type { Tx } from '../io/db/index.ts';
import type { Operator } from './operator.ts';
import { describeList, describeWhole, toListed, toShown } from './outbox-output.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type OfProject = { project: string } & OutputOptions;

const LISTED = 1_000;

export function addOutboxCommands(program: Command, operator: Operator): void {
  const outbox = program
    .command('outbox')
    .description('look at the letters that the server keeps for itself while no relay is set');
  addList(outbox, operator);
  addShow(outbox, operator);
  addClear(outbox, operator);
}

type ListOptions = OfProject & { user?: string; draft?: string; limit: number };

function addList(outbox: Command, operator: Operator): void {
  outbox
    .command('list')
    .description('list what arrived, the newest first')
    .requiredOption(...PROJECT_OPTION)
    .option('--user <user>', 'only emails to this user')
    .option('--draft <draft>', 'only the letter of this draft', readId)
    .option('--limit <number>', 'no more than so many', readCount, LISTED)
    .option(...JSON_OPTION)
    .action((options: ListOptions) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return (await readPages(db, projectId, options)).map(toListed);
        },
        show: describeList,
      }),
    );
}

/** A page at a time, so that no statement is long. */
async function readPages(tx: Tx, projectId: number, options: ListOptions): Promise<KeptMail[]> {
  const { user: userId = null, draft: draftId = null, limit: all } = options;
  if (userId !== null && !isStorable(userId)) return [];
  const found: KeptMail[] = [];
  while (found.length < all) {
    const limit = Math.min(all - found.length, OUTBOX_PAGE_MAX);
    const after: KeptMail | null = found.at(-1) ?? null;
    const page = await listMail(tx, { projectId, userId, draftId, after, limit });
    found.push(...page);
    if (page.length < limit) break;
  }
  return found;
}

type ShowOptions = OfProject & {
  message: string;
  copy: number;
  raw?: boolean;
  text?: boolean;
  html?: string;
};

function addShow(outbox: Command, operator: Operator): void {
  outbox
    .command('show')
    .description('show a letter as it arrived, and what is wrong with it')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--message <message>', 'its id, as outbox list shows it')
    .option('--copy <number>', 'of a letter that arrived more than once, which of them', readCount, 1)
    .option('--raw', 'the whole letter as it went over the wire')
    .option('--text', 'its plain text and nothing else')
    .option('--html <file>', 'write its HTML into this file')
    .option(...JSON_OPTION)
    .action((options: ShowOptions) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          const shown = await showMail(
            { db, renderer: mailroom.renderer },
            { projectId, id: options.message, copy: options.copy },
          );
          if (options.html !== undefined) await writeFile(options.html, shown.html);
          return toShown(shown);
        },
        show: (shown) => describeWanted(shown, options),
      }),
    );
}

function describeWanted(shown: ReturnType<typeof toShown>, { raw, text, html }: ShowOptions): string {
  if (raw) return shown.raw;
  if (text) return shown.text;
  if (html !== undefined) return `The HTML, ${Buffer.byteLength(shown.html)} bytes, is in ${html}`;
  return describeWhole(shown);
}

function addClear(outbox: Command, operator: Operator): void {
  outbox
    .command('clear')
    .description('forget what arrived; drafts and what is known of them stay')
    .requiredOption(...PROJECT_OPTION)
    .option('--older <duration>', 'only what is older than this, such as 7d', readDuration)
    .option(...JSON_OPTION)
    .action((options: OfProject & { older?: number }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const now = db.clock.now();
          // Of another process's clock a letter may come from the next moment.
          const before = options.older === undefined ? now + CLOCKS_DIFFER_MS : now - options.older;
          return { cleared: await clearOutbox(db, { projectId, before }) };
        },
        show: ({ cleared }) => `${cleared} ${cleared === 1 ? 'letter was' : 'letters were'} forgotten`,
      }),
    );
}

const CLOCKS_DIFFER_MS = 60_000;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function readId(text: string): string {
  if (UUID.test(text)) return text;
  throw new InvalidArgumentError('It must be an id, as draft list shows it.');
}

function readCount(text: string): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`It must be ${DURATION_SYNTAX}.`);
}
