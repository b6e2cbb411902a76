import {
  againAt,
  type AiDraftingLease,
  isRefused,
  isWornOut,
  listMoves,
  lockDraft,
  lookAgainAt,
  settleWording,
  type AiDraftingResult,
  wordLater,
  writeMoved,
} from '../../drafts/index.ts';
import { markdownValue, type Renderer } from '../../rendering/index.ts';
import type { Models } from '../../rules/index.ts';
import { type AiDraftContent, hashQuestion, type ModelPrompt, readAnswer, repairOf } from './prompt.ts';
import type { DraftModel } from './draft-model.ts';
import { guard } from './guard.ts';
import { prepare, type Prepared } from './prepare.ts';
import { reword } from './reword-draft.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type WordDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  models: Models;
  renderer: Renderer;
  /** Null if the installation has no model. */
  model: DraftModel | null;
};
type Deps = WordDeps & { model: DraftModel };

/** `held`: tried again when the draft continues. `later`: the model did not answer. */
export type Worded = { verdict: AiDraftingResult | 'held' | 'later'; reason: string | null };

/**
 * Lets the model write a better text, and uses it if it makes no other statements. The model is called outside any transaction, so it
 * blocks nothing. Changes of the draft in that time are detected afterwards.
 */
export async function wordDraft(
  given: WordDeps,
  claim: AiDraftingLease,
  signal: AbortSignal,
): Promise<Worded> {
  const { db, models, renderer, model } = given;
  // Settled, so that no draft waits forever for a model that is not configured.
  if (!model) return settle(given, claim, { verdict: 'declined', question: null });
  const deps = { ...given, model };
  if (isWornOut(claim)) return settle(deps, claim, { verdict: 'failed', question: null });
  const prepared = await prepare(db, claim, { models, renderer, now: db.clock.now() });
  if (prepared === 'wait') return held(deps, claim);
  if ('verdict' in prepared) return settle(deps, claim, { verdict: prepared.verdict, question: null });
  const { question } = prepared;
  const answered = await askAndGuard(model, prepared, signal);
  switch (answered.kind) {
    case 'fit':
      return put(deps, claim, { prepared, answer: answered.answer, findings: answered.findings });
    case 'refused':
      return settle(deps, claim, { verdict: 'refused', question, findings: answered.findings });
    case 'declined':
      return settle(deps, claim, { verdict: 'declined', question });
    case 'failed':
      return failed(deps, claim, { question, reason: answered.reason, isStopped: signal.aborted });
    default:
      return answered satisfies never;
  }
}

type Answered =
  | { kind: 'fit'; answer: AiDraftContent; findings: string[] }
  | { kind: 'refused'; findings: string[] }
  | { kind: 'declined' }
  | { kind: 'failed'; reason: string };

/** Calls the model once, and a second time with what was wrong. */
async function askAndGuard(model: DraftModel, prepared: Prepared, signal: AbortSignal): Promise<Answered> {
  const first = await askOnce(model, { prepared, question: prepared.question }, signal);
  if (first.kind !== 'refused') return first;
  const again = repairOf(prepared.question, { answer: first.value, findings: first.findings });
  const second = await askOnce(model, { prepared, question: again }, signal);
  return second.kind === 'fit' ? { ...second, findings: first.findings } : second;
}

const UNREADABLE = 'it is not one JSON object in the requested form';

async function askOnce(
  model: DraftModel,
  { prepared, question }: { prepared: Prepared; question: ModelPrompt },
  signal: AbortSignal,
): Promise<Exclude<Answered, { kind: 'refused' }> | { kind: 'refused'; findings: string[]; value: unknown }> {
  const asked = await model.ask(question, signal);
  if (asked.kind === 'failed' || asked.kind === 'declined') return asked;
  const value = asked.kind === 'answer' ? asked.value : null;
  const answer = readAnswer(value);
  if (!answer) return { kind: 'refused', findings: [UNREADABLE], value };
  const findings = guard(answer, prepared.evidence);
  return findings.length === 0 ? { kind: 'fit', answer, findings } : { kind: 'refused', findings, value };
}

type Putting = { prepared: Prepared; answer: AiDraftContent; findings: string[] };

/** Replaces the text only if the draft is still as the model saw it and this worker still has the claim. */
function put(deps: Deps, claim: AiDraftingLease, { prepared, answer, findings }: Putting): Promise<Worded> {
  const { db, model } = deps;
  const { projectId, draftId } = claim;
  const promptHash = hashQuestion(prepared.question, model.name);
  return db.transaction(async (tx) => {
    const draft = await lockDraft(tx, projectId, draftId);
    if (!draft) return { verdict: 'too_late', reason: null };
    const decided = reword(draft, await listMoves(tx, projectId, draftId), {
      content: contentOf(answer, prepared.addresses),
      from: prepared.draft.contentHash,
      now: db.clock.now(),
      detail: { model: model.name, prompt_hash: promptHash, verdict: 'worded' },
    });
    const verdict = isRefused(decided) ? 'touched' : 'worded';
    const isMine = await settleWording(tx, claim, { verdict, findings, model: model.name, promptHash });
    if (isMine && !isRefused(decided)) await writeMoved(tx, [decided]);
    return { verdict, reason: null };
  });
}

function contentOf(answer: AiDraftContent, addresses: Prepared['addresses']): Prepared['draft']['content'] {
  const blocks = answer.blocks.map((block): BodyBlock => {
    if (block.kind !== 'link') return block;
    const address = addresses.get(block.linkId);
    if (address === undefined) throw new Error('an unknown link passed the check');
    return { kind: 'link', text: block.text, address };
  });
  const { subject, preheader } = answer;
  const body = markdownOfBlocks(blocks).trimEnd();
  return { subject: subject.trim(), preheader: preheader.trim(), body, format: 'markdown' };
}

type Settling = {
  verdict: AiDraftingResult;
  question: ModelPrompt | null;
  findings?: string[];
  reason?: string;
};

async function settle(
  { db, model }: Pick<WordDeps, 'db' | 'model'>,
  claim: AiDraftingLease,
  { verdict, question, findings = [], reason }: Settling,
): Promise<Worded> {
  const asked = question && model && { model: model.name, promptHash: hashQuestion(question, model.name) };
  await settleWording(db satisfies Tx, claim, { model: null, promptHash: null, ...asked, verdict, findings });
  return { verdict, reason: reason ?? findings[0] ?? null };
}

function held(deps: Deps, claim: AiDraftingLease): Promise<Worded> {
  const at = lookAgainAt(claim, deps.db.clock.now());
  if (at !== null) return later(deps, claim, { at, verdict: 'held' });
  return settle(deps, claim, { verdict: 'too_late', question: null });
}

type Failing = { question: ModelPrompt; reason: string; isStopped: boolean };

function failed(
  deps: Deps,
  claim: AiDraftingLease,
  { question, reason, isStopped }: Failing,
): Promise<Worded> {
  const now = deps.db.clock.now();
  // A worker that stops leaves the draft to the next one, at once.
  const at = isStopped ? now : againAt(claim, now);
  if (at !== null) return later(deps, claim, { at, verdict: 'later', reason });
  return settle(deps, claim, { verdict: 'failed', question, findings: [reason] });
}

type Later = { at: number; verdict: 'held' | 'later'; reason?: string };

async function later(
  { db }: Pick<WordDeps, 'db'>,
  claim: AiDraftingLease,
  { at, verdict, reason }: Later,
): Promise<Worded> {
  await wordLater(db, claim, at);
  return { verdict, reason: reason ?? null };
}

type BodyBlock =
  | { kind: 'paragraph'; text: string }
  | { kind: 'bullets'; items: string[] }
  /** `address`: a URL of the email itself. */
  | { kind: 'link'; text: string; address: string };

/** Returns a body of plain words: whatever they spell, they are not Markdown. */
function markdownOfBlocks(blocks: BodyBlock[]): string {
  return `${blocks.map(written).join('\n\n')}\n`;
}

function written(block: BodyBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return lineOf(block.text);
    case 'bullets':
      return block.items.map((item) => `- ${lineOf(item)}`).join('\n');
    case 'link':
      return `[${lineOf(block.text)}](<${block.address}>)`;
    default:
      return block satisfies never;
  }
}

/** Trims the text, because leading spaces would change the meaning of the line. */
function lineOf(text: string): string {
  return markdownValue(text.trim());
}
