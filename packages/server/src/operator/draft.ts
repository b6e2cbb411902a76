import { type Command, InvalidArgumentError } from 'commander';
import { parseDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import { idMaker } from '../base/ids.ts';
import { parseInstant } from '../base/instant.ts';
import { type Draft, DRAFT_STATES, type DraftState, listDrafts } from '../features/drafts/index.ts';
import { findProject } from '../features/projects/index.ts';
import { findRule } from '../features/rules/index.ts';
import { type Act, moveDraft } from '../flows/move-draft.ts';
import { moveDrafts } from '../flows/move-drafts.ts';
import { ruleNames } from '../flows/person-letters.ts';
import { showDraft } from '../flows/show-draft.ts';
import type { Database, Tx } from '../io/db/index.ts';
import {
  describeActed,
  describeList,
  describeMany,
  describeWhole,
  toActed,
  toListed,
  toWhole,
} from './draft-output.ts';
import { addSendTest } from './draft-send-test.ts';
import { readJsonFile } from './json-file.ts';
import { OPERATOR, type Opened, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type OfProject = { project: string } & OutputOptions;
type OfDraft = OfProject & { draft: string };

const DRAFT_OPTION = ['--draft <draft>', 'its id'] as const;
const RULE_OPTION = ['--rule <rule>', "a rule's id or name: all of its drafts that wait"] as const;
const FILE_KEYS = ['subject', 'preheader', 'body'];
const LISTED = 1_000;
const PAGE = 500;

export function addDraftCommands(program: Command, operator: Operator): void {
  const draft = program
    .command('draft')
    .description('look at the letters that wait, and say what becomes of them');
  addList(draft, operator);
  addShow(draft, operator);
  addApprove(draft, operator);
  addSkip(draft, operator);
  addPostpone(draft, operator);
  addEdit(draft, operator);
  addUndo(draft, operator);
  addSendAgain(draft, operator);
  addSendTest(draft, operator);
}

type ListOptions = OfProject & { state?: DraftState; rule?: string; user?: string; limit: number };

function addList(draft: Command, operator: Operator): void {
  draft
    .command('list')
    .description('list drafts, the newest first')
    .requiredOption(...PROJECT_OPTION)
    .option('--state <state>', `only those that are ${DRAFT_STATES.join(', ')}`, readState)
    .option('--rule <rule>', 'only those of this rule, by its id or its name')
    .option('--user <user>', 'only those for this user')
    .option('--limit <number>', 'no more than so many', readCount, LISTED)
    .option(...JSON_OPTION)
    .action((options: ListOptions) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const names = await ruleNames(db, projectId);
          const drafts = await readPages(db, projectId, options);
          return drafts.map((one) => toListed(one, names(one.ruleId)));
        },
        show: describeList,
      }),
    );
}

/** A page at a time, so that no statement is long. */
async function readPages(tx: Tx, projectId: number, options: ListOptions): Promise<Draft[]> {
  const { state = null, user: userId = null, limit: all } = options;
  const reference = options.rule;
  const ruleId = reference === undefined ? null : (await findRule(tx, { projectId, reference })).id;
  const drafts: Draft[] = [];
  while (drafts.length < all) {
    const limit = Math.min(all - drafts.length, PAGE);
    const after: string | null = drafts.at(-1)?.id ?? null;
    const page = await listDrafts(tx, { projectId, state, ruleId, userId, after, limit });
    drafts.push(...page);
    if (page.length < limit) break;
  }
  return drafts;
}

function addShow(draft: Command, operator: Operator): void {
  draft
    .command('show')
    .description('show a draft with its text, what it has been through, and what would hold it now')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DRAFT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfDraft) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          const asked = { projectId, draftId: options.draft, now: db.clock.now(), mailroom };
          return toWhole(await showDraft(db, asked));
        },
        show: describeWhole,
      }),
    );
}

function addApprove(draft: Command, operator: Operator): void {
  draft
    .command('approve')
    .description('have a draft leave as soon as the gates let it; it can be undone for 10 seconds at least')
    .requiredOption(...PROJECT_OPTION)
    .option(...DRAFT_OPTION)
    .option(...RULE_OPTION)
    .option('--anyway', 'though the condition of its rule does not hold any more')
    .option(...JSON_OPTION)
    .action((options: OneOrMany & { anyway?: boolean }) =>
      moveOneOrMany(operator, options, { kind: 'approve', anyway: options.anyway ?? false }),
    );
}

function addSkip(draft: Command, operator: Operator): void {
  draft
    .command('skip')
    .description('have a draft not leave at all; it can be undone for 10 seconds')
    .requiredOption(...PROJECT_OPTION)
    .option(...DRAFT_OPTION)
    .option(...RULE_OPTION)
    .option('--reason <reason>', 'why, for those who look at it later')
    .option(...JSON_OPTION)
    .action((options: OneOrMany & { reason?: string }) =>
      moveOneOrMany(operator, options, { kind: 'skip', reason: options.reason ?? null }),
    );
}

type OneOrMany = OfProject & { draft?: string; rule?: string };

async function moveOneOrMany(
  operator: Operator,
  options: OneOrMany,
  act: Extract<Act, { kind: 'approve' | 'skip' }>,
): Promise<void> {
  const { rule: reference, draft } = options;
  if (draft !== undefined && reference === undefined) {
    await move(operator, { ...options, draft }, () => act);
    return;
  }
  await runOpened(operator, options, {
    work: async ({ db, mailroom }) => {
      if (reference === undefined || draft !== undefined) {
        throw invalid('draft', 'Say either which draft, by --draft, or of which rule all, by --rule');
      }
      const { id: projectId } = await findProject(db, options.project);
      const { id: ruleId } = await findRule(db, { projectId, reference });
      const deps = { db, newId: idMaker(db.clock), mailroom };
      return moveDrafts(deps, { projectId, ruleId }, { act, by: { actor: OPERATOR } });
    },
    show: describeMany,
  });
}

function addPostpone(draft: Command, operator: Operator): void {
  draft
    .command('postpone')
    .description('move the deadline of a draft or, where it waits for a person, put it out of sight')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DRAFT_OPTION)
    .requiredOption('--until <time>', 'a time such as 2026-01-31T09:00:00Z, or how long from now: 2h')
    .option('--extend', 'beyond its expiry, on purpose')
    .option(...JSON_OPTION)
    .action((options: OfDraft & { until: string; extend?: boolean }) =>
      move(operator, options, (db) => {
        const until = readUntil(options.until, db.clock.now());
        return { kind: 'postpone', until, extend: options.extend ?? false };
      }),
    );
}

function addEdit(draft: Command, operator: Operator): void {
  draft
    .command('edit')
    .description(
      'write a draft anew; from then on it follows neither its letter nor what is known of the person',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DRAFT_OPTION)
    .requiredOption(
      '--file <file>',
      'JSON with what changes: {"subject": "...", "preheader": "...", "body": "..."}',
    )
    .option(...JSON_OPTION)
    .action((options: OfDraft & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const written = readTexts(await readJsonFile(options.file, FILE_KEYS));
          const { id: projectId } = await findProject(db, options.project);
          const ref = { projectId, draftId: options.draft };
          const { draft: before } = await showDraft(db, { ...ref, now: db.clock.now(), mailroom });
          const act: Act = { kind: 'edit', content: { ...before.content, ...written } };
          // What is left out stays as it was read here, so it must still be that.
          return moveOne({ db, mailroom }, ref, { act, hash: before.contentHash });
        },
        show: describeActed,
      }),
    );
}

function addUndo(draft: Command, operator: Operator): void {
  draft
    .command('undo')
    .description(
      'take back an approval until the draft is being sent, or a skip or a postponement for 10 seconds',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DRAFT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfDraft) => move(operator, options, () => ({ kind: 'undo' })));
}

function addSendAgain(draft: Command, operator: Operator): void {
  draft
    .command('send-again')
    .description('send what failed, or of which nobody knows, again as a new draft, through all gates')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DRAFT_OPTION)
    .option('--yes', 'though it may arrive twice')
    .option(...JSON_OPTION)
    .action((options: OfDraft & { yes?: boolean }) =>
      move(operator, options, () => ({ kind: 'send_again', confirmed: options.yes ?? false })),
    );
}

function move(operator: Operator, options: OfDraft, actOf: (db: Database) => Act): Promise<void> {
  return runOpened(operator, options, {
    work: async ({ db, mailroom }) => {
      const { id: projectId } = await findProject(db, options.project);
      return moveOne({ db, mailroom }, { projectId, draftId: options.draft }, { act: actOf(db) });
    },
    show: describeActed,
  });
}

async function moveOne(
  { db, mailroom }: Pick<Opened, 'db' | 'mailroom'>,
  ref: { projectId: number; draftId: string },
  { act, ...seen }: { act: Act; hash?: string },
): Promise<ReturnType<typeof toActed>> {
  const by = { actor: OPERATOR, ...seen };
  const { draft, gate } = await moveDraft({ db, newId: idMaker(db.clock), mailroom }, ref, { act, by });
  return toActed(draft, { rule: (await ruleNames(db, ref.projectId))(draft.ruleId), gate });
}

function readUntil(text: string, now: number): number {
  const ms = parseDuration(text);
  const until = ms === undefined ? parseInstant(text) : now + ms;
  if (!Number.isNaN(until)) return until;
  throw invalid(
    'until',
    'until must be a time such as 2026-01-31T09:00:00Z, or how long from now such as 2h',
  );
}

function readTexts(file: Record<string, unknown>): Partial<Draft['content']> {
  const texts = Object.entries(file).map(([name, value]): [string, string] => {
    if (typeof value === 'string') return [name, value];
    throw invalid(name, `${name} must be a text`);
  });
  if (texts.length === 0) throw invalid('file', `Say what changes: ${FILE_KEYS.join(', ')}`);
  return Object.fromEntries(texts);
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

function readState(text: string): DraftState {
  const state = DRAFT_STATES.find((one) => one === text);
  if (state) return state;
  throw new InvalidArgumentError(`It must be one of ${DRAFT_STATES.join(', ')}.`);
}

function readCount(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}
