import type { DraftMoved, DraftSeen } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import { parseInstant } from '../../platform/time/time-text.ts';
import { type Draft, findDraft } from '../drafts/index.ts';
import { describeDrafts, toDraftInList } from './list-drafts.ts';
import { type MemberAction, type MoveResult, isDraftId, moveDraft, unknownDraft } from './move-draft.ts';
import { sendTest } from './send-test.ts';
import {
  testRecipientForAudit,
  testRecipient,
  type DashboardRoute,
  routesFor,
  type KitDeps,
} from '../workspace/index.ts';
import { withConflictActor } from './draft-conflict.ts';
import { actorsOf, toDraftListed, toGate } from './draft-view.ts';
import type { CopyRelays, SendServices } from '../delivery/index.ts';
import type { Models } from '../rules/index.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';

type Deps = KitDeps &
  CopyRelays & {
    sendServices: SendServices;
    models: Models;
    tokenKeys: TokenKeys;
  };
const { route } = routesFor<Deps>();

export const draftMoveRoutes: DashboardRoute<Deps>[] = [
  route('POST /projects/:project/drafts/:draft/approve', {
    needs: 'reviewer',
    audit: 'draft.approve',
    handle: (deps, input) => act(deps, input, { kind: 'approve', anyway: input.body.anyway ?? false }),
  }),
  route('POST /projects/:project/drafts/:draft/skip', {
    needs: 'reviewer',
    audit: 'draft.skip',
    handle: (deps, input) => act(deps, input, { kind: 'skip', reason: reasonOf(input.body.reason) }),
  }),
  route('POST /projects/:project/drafts/:draft/postpone', {
    needs: 'reviewer',
    audit: 'draft.postpone',
    handle: (deps, input) =>
      act(deps, input, {
        kind: 'postpone',
        until: readUntil(input.body.until),
        extend: input.body.extend ?? false,
      }),
  }),
  route('POST /projects/:project/drafts/:draft/edit', {
    needs: 'editor',
    audit: 'draft.edit',
    async handle(deps, input) {
      const { db } = deps;
      const { projectId, params, body } = input;
      const found = isDraftId(params.draft) ? await findDraft(db, projectId, params.draft) : undefined;
      if (!found) throw unknownDraft(params.draft);
      const { hash, moves, ...texts } = body;
      const { content, contentHash } = found.draft;
      // A field that the request omits keeps the value read here, so the draft must still have that value.
      const seen: DraftSeen = { hash: hash ?? contentHash, ...(moves === undefined ? {} : { moves }) };
      const edit: MemberAction = { kind: 'edit', content: { ...content, ...texts } };
      const acted = await move(deps, { ...input, body: seen }, edit);
      return { data: { ...(await toDraftMoved(deps, acted, input)), content: acted.draft.content } };
    },
  }),
  route('POST /projects/:project/drafts/:draft/undo', {
    needs: 'reviewer',
    audit: 'draft.undo',
    handle: (deps, input) => act(deps, input, { kind: 'undo' }),
  }),
  route('POST /projects/:project/drafts/:draft/open-editor', {
    needs: 'editor',
    audit: 'draft.open_editor',
    handle: (deps, input) => act(deps, input, { kind: 'open_editor' }),
  }),
  route('POST /projects/:project/drafts/:draft/close-editor', {
    needs: 'editor',
    audit: 'draft.close_editor',
    handle: (deps, input) => act(deps, input, { kind: 'close_editor' }),
  }),
  route('POST /projects/:project/drafts/:draft/send-again', {
    needs: 'reviewer',
    audit: 'draft.send_again',
    async handle(deps, input) {
      const { confirm } = input.body;
      const confirmed = confirm !== undefined && (await isUserOfDraft(deps, input, confirm));
      return act(deps, input, { kind: 'send_again', confirmed });
    },
  }),
  route('POST /projects/:project/drafts/:draft/send-test', {
    needs: 'reviewer',
    audit: 'draft.send_test',
    async handle(deps, { projectId, params, body, member, note }) {
      const ref = { projectId, draftId: params.draft };
      const to = testRecipient(body.to, member);
      const sent = await sendTest({ ...deps, relays: deps }, ref, to);
      note({ subject: params.draft, after: { to: testRecipientForAudit(sent.to, member) } });
      return { data: sent };
    },
  }),
];

type ActionRequest = {
  projectId: number;
  params: { draft: string };
  body: DraftSeen;
  actor: string;
  note(what: { subject?: string; before?: unknown; after?: unknown }): void;
};

async function act(deps: Deps, input: ActionRequest, what: MemberAction): Promise<{ data: DraftMoved }> {
  const acted = await move(deps, input, what);
  return { data: await toDraftMoved(deps, acted, input) };
}

async function move(deps: Deps, input: ActionRequest, what: MemberAction): Promise<MoveResult> {
  const { projectId, params, actor } = input;
  const { hash, moves } = input.body;
  const seen = { ...(hash === undefined ? {} : { hash }), ...(moves === undefined ? {} : { moves }) };
  const { db, newId, sendServices, models } = deps;
  const ref = { projectId, draftId: params.draft };
  const acted = await withConflictActor(deps, { ...ref, actor }, () =>
    moveDraft({ db, newId, sendServices, models }, ref, { act: what, by: { actor, ...seen } }),
  );
  input.note({ subject: params.draft, after: auditState(acted.draft) });
  return acted;
}

/**
 * Returns the state of a draft for the audit log, without its content and its recipient: the log is kept after a user is erased. The reason
 * of a skipped draft is text that a reviewer typed, so the entry says only whether there was one.
 */
function auditState({ id, state, reason, deadlineAt, contentHash }: Draft): object {
  const why = state === 'skipped' ? { has_reason: reason !== null } : { reason };
  return { id, state, ...why, deadline_at: deadlineAt, content_hash: contentHash };
}

async function toDraftMoved(
  { db, access }: Deps,
  { draft, gate }: MoveResult,
  { projectId, actor }: ActionRequest,
): Promise<DraftMoved> {
  const [described] = await describeDrafts(db, projectId, [toDraftInList(draft)]);
  if (!described) throw new Error('a draft that was moved is not described');
  const names = await access.namesOf(actorsOf([draft]));
  return { draft: toDraftListed(described, { actor, names, now: db.clock.now() }), send_check: toGate(gate) };
}

function reasonOf(text: string | undefined): string | null {
  const reason = text?.trim() ?? '';
  return reason === '' ? null : reason;
}

export function readUntil(text: string): number {
  const until = parseInstant(text);
  if (!Number.isNaN(until)) return until;
  const message = 'until must be a time such as 2026-01-31T09:00:00Z';
  throw new Fault('validation_failed', { details: [{ message, field: 'until' }] });
}

/** Checks the confirmation that the email may arrive twice: the typed id of its user. */
async function isUserOfDraft(
  { db }: Deps,
  { projectId, params }: ActionRequest,
  typed: string,
): Promise<boolean> {
  const found = isDraftId(params.draft) ? await findDraft(db, projectId, params.draft) : undefined;
  if (!found || found.draft.userId === typed.trim()) return true;
  const message = 'This is not the user ID of its recipient';
  throw new Fault('validation_failed', { details: [{ message, field: 'confirm' }] });
}
