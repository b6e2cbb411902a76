import {
  type AiDraftingLease,
  isRefused,
  listMoves,
  lockDraft,
  finishAiDrafting,
  type AiDraftingResult,
  retryAiDrafting,
  writeTransitions,
} from '../../drafts/index.ts';
import { markdownValue, type Renderer } from '../../rendering/index.ts';
import type { Models } from '../../rules/index.ts';
import { type AiDraftContent, hashRequest, type ModelPrompt, parseContent, repairOf } from './prompt.ts';
import type { DraftModel } from './draft-model.ts';
import { guard } from './guard.ts';
import { prepare, type Prepared } from './prepare.ts';
import { reword } from './reword-draft.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { againAt, isWornOut, lookAgainAt } from './attempts.ts';

export type AiDraftingDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  models: Models;
  renderer: Renderer;
  /** Null if the installation has no model. */
  model: DraftModel | null;
};
type Deps = AiDraftingDeps & { model: DraftModel };

/** `held`: tried again when the draft continues. `later`: the model did not answer. */
export type AiDraftingRun = { result: AiDraftingResult | 'held' | 'later'; reason: string | null };

/**
 * Lets the model write a better text, and uses it if it makes no other statements. The model is called outside any transaction, so it
 * blocks nothing. Changes of the draft in that time are detected afterwards.
 */
export async function runAiDrafting(
  baseDeps: AiDraftingDeps,
  claim: AiDraftingLease,
  signal: AbortSignal,
): Promise<AiDraftingRun> {
  const { db, models, renderer, model } = baseDeps;
  // Settled, so that no draft waits forever for a model that is not configured.
  if (!model) return finishRun(baseDeps, claim, { result: 'declined', request: null });
  const deps = { ...baseDeps, model };
  if (isWornOut(claim)) return finishRun(deps, claim, { result: 'failed', request: null });
  const prepared = await prepare(db, claim, { models, renderer, now: db.clock.now() });
  if (prepared === 'wait') return retryHeld(deps, claim);
  if ('result' in prepared) return finishRun(deps, claim, { result: prepared.result, request: null });
  const { request } = prepared;
  const outcome = await generateGuarded(model, prepared, signal);
  switch (outcome.kind) {
    case 'fit':
      return storeContent(deps, claim, { prepared, content: outcome.content, findings: outcome.findings });
    case 'refused':
      return finishRun(deps, claim, { result: 'refused', request, findings: outcome.findings });
    case 'declined':
      return finishRun(deps, claim, { result: 'declined', request });
    case 'failed':
      return handleFailure(deps, claim, { request, reason: outcome.reason, isStopped: signal.aborted });
    default:
      return outcome satisfies never;
  }
}

type ModelOutcome =
  | { kind: 'fit'; content: AiDraftContent; findings: string[] }
  | { kind: 'refused'; findings: string[] }
  | { kind: 'declined' }
  | { kind: 'failed'; reason: string };

/** Calls the model once, and a second time with what was wrong. */
async function generateGuarded(
  model: DraftModel,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const first = await generateOnce(model, { prepared, request: prepared.request }, signal);
  if (first.kind !== 'refused') return first;
  const again = repairOf(prepared.request, { response: first.value, findings: first.findings });
  const second = await generateOnce(model, { prepared, request: again }, signal);
  return second.kind === 'fit' ? { ...second, findings: first.findings } : second;
}

const UNREADABLE = 'it is not one JSON object in the requested form';

async function generateOnce(
  model: DraftModel,
  { prepared, request }: { prepared: Prepared; request: ModelPrompt },
  signal: AbortSignal,
): Promise<
  Exclude<ModelOutcome, { kind: 'refused' }> | { kind: 'refused'; findings: string[]; value: unknown }
> {
  const response = await model.generate(request, signal);
  if (response.kind === 'failed' || response.kind === 'declined') return response;
  const value = response.kind === 'answer' ? response.value : null;
  const content = parseContent(value);
  if (!content) return { kind: 'refused', findings: [UNREADABLE], value };
  const findings = guard(content, prepared.evidence);
  return findings.length === 0 ? { kind: 'fit', content, findings } : { kind: 'refused', findings, value };
}

type PutInput = { prepared: Prepared; content: AiDraftContent; findings: string[] };

/** Replaces the text only if the draft is still as the model saw it and this worker still has the claim. */
function storeContent(
  deps: Deps,
  claim: AiDraftingLease,
  { prepared, content, findings }: PutInput,
): Promise<AiDraftingRun> {
  const { db, model } = deps;
  const { projectId, draftId } = claim;
  const promptHash = hashRequest(prepared.request, model.name);
  return db.transaction(async (tx) => {
    const draft = await lockDraft(tx, projectId, draftId);
    if (!draft) return { result: 'too_late', reason: null };
    const decided = reword(draft, await listMoves(tx, projectId, draftId), {
      content: contentOf(content, prepared.addresses),
      from: prepared.draft.contentHash,
      now: db.clock.now(),
      detail: { model: model.name, prompt_hash: promptHash, result: 'drafted' },
    });
    const result = isRefused(decided) ? 'changed' : 'drafted';
    const isMine = await finishAiDrafting(tx, claim, { result, findings, model: model.name, promptHash });
    if (isMine && !isRefused(decided)) await writeTransitions(tx, [decided]);
    return { result, reason: null };
  });
}

function contentOf(content: AiDraftContent, addresses: Prepared['addresses']): Prepared['draft']['content'] {
  const blocks = content.blocks.map((block): BodyBlock => {
    if (block.kind !== 'link') return block;
    const address = addresses.get(block.linkId);
    if (address === undefined) throw new Error('an unknown link passed the check');
    return { kind: 'link', text: block.text, address };
  });
  const { subject, preheader } = content;
  const body = markdownOfBlocks(blocks).trimEnd();
  return { subject: subject.trim(), preheader: preheader.trim(), body, format: 'markdown' };
}

type SettleInput = {
  result: AiDraftingResult;
  request: ModelPrompt | null;
  findings?: string[];
  reason?: string;
};

async function finishRun(
  { db, model }: Pick<AiDraftingDeps, 'db' | 'model'>,
  claim: AiDraftingLease,
  { result, request, findings = [], reason }: SettleInput,
): Promise<AiDraftingRun> {
  const modelFields = request && model && { model: model.name, promptHash: hashRequest(request, model.name) };
  await finishAiDrafting(db satisfies Tx, claim, {
    model: null,
    promptHash: null,
    ...modelFields,
    result,
    findings,
  });
  return { result, reason: reason ?? findings[0] ?? null };
}

function retryHeld(deps: Deps, claim: AiDraftingLease): Promise<AiDraftingRun> {
  const at = lookAgainAt(claim, deps.db.clock.now());
  if (at !== null) return scheduleRetry(deps, claim, { at, result: 'held' });
  return finishRun(deps, claim, { result: 'too_late', request: null });
}

type FailureInput = { request: ModelPrompt; reason: string; isStopped: boolean };

function handleFailure(
  deps: Deps,
  claim: AiDraftingLease,
  { request, reason, isStopped }: FailureInput,
): Promise<AiDraftingRun> {
  const now = deps.db.clock.now();
  // A worker that stops leaves the draft to the next one, at once.
  const at = isStopped ? now : againAt(claim, now);
  if (at !== null) return scheduleRetry(deps, claim, { at, result: 'later', reason });
  return finishRun(deps, claim, { result: 'failed', request, findings: [reason] });
}

type RetryInput = { at: number; result: 'held' | 'later'; reason?: string };

async function scheduleRetry(
  { db }: Pick<AiDraftingDeps, 'db'>,
  claim: AiDraftingLease,
  { at, result, reason }: RetryInput,
): Promise<AiDraftingRun> {
  await retryAiDrafting(db, claim, at);
  return { result, reason: reason ?? null };
}

type BodyBlock =
  | { kind: 'paragraph'; text: string }
  | { kind: 'bullets'; items: string[] }
  /** `address`: a URL of the email itself. */
  | { kind: 'link'; text: string; address: string };

/** Returns a body of plain words: whatever they spell, they are not Markdown. */
function markdownOfBlocks(blocks: BodyBlock[]): string {
  return `${blocks.map(blockMarkdown).join('\n\n')}\n`;
}

function blockMarkdown(block: BodyBlock): string {
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
