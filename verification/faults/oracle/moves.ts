import { can, type Action } from '../../../packages/server/src/modules/drafts/transitions.ts';
import { DRAFT_STATES, type DraftState } from '../../../packages/server/src/modules/drafts/draft.ts';
import type { DraftRow, Facts, MoveRow } from './facts.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I9: every change of a draft is a row, in an unbroken chain from its creation to its current state. Each row is a transition that
 * the state table allows. The email agrees with the draft, and actions of members are in the audit log.
 */
export function checkMoves({ rows, actions }: Pick<Facts, 'rows' | 'actions'>, findings: Findings): void {
  const moves = Map.groupBy(rows.moves, ({ project, draft }) => `${project} ${draft}`);
  const drafts = new Map(rows.drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  for (const [draftKey, draft] of drafts) {
    const draftMoves = moves.get(draftKey) ?? [];
    checkChain(draft, draftMoves, findings);
    if (SUBMITTED_STATES.includes(draft.state) && !draftMoves.some(({ action }) => action === 'claim'))
      findings.add('I9', 'a draft was submitted without a claim', draftKey);
  }
  for (const draftKey of moves.keys())
    if (!drafts.has(draftKey)) findings.add('I9', 'moves of a missing draft', draftKey);
  for (const { project, draft: id, state } of rows.emails) {
    const draft = drafts.get(`${project} ${id}`);
    if (!draft || DRAFT_STATES_OF[state]?.includes(draft.state)) continue;
    const evidence = `draft ${id} is ${draft.state}, its email ${state}`;
    findings.add('I9', 'an email and its draft have contradicting states', evidence);
  }
  checkAudit({ rows, actions }, findings);
}

/** The states of a draft whose email was deferred, whatever holds it. */
const OPEN_STATES = ['held', 'scheduled', 'approved'];
const DRAFT_STATES_OF: Record<string, string[]> = {
  claimed: ['sending'],
  submitting: ['sending'],
  deferred: OPEN_STATES,
  sent: ['sent'],
  // A deferred email ends with its draft.
  failed: ['failed', 'canceled', 'skipped'],
  unknown: ['unknown'],
};
const SUBMITTED_STATES = ['sending', 'sent', 'unknown'];

const isState = (text: string): text is DraftState => (DRAFT_STATES as readonly string[]).includes(text);

function checkChain(draft: DraftRow, moves: MoveRow[], findings: Findings): void {
  const name = `draft ${draft.id} of project ${draft.project}`;
  const addFinding = (problem: string, move?: MoveRow): void =>
    findings.add(
      'I9',
      problem,
      move ? `${name}, move ${move.number}: ${move.action} from ${move.from ?? 'none'} to ${move.to}` : name,
    );
  if (moves.length !== draft.moves) addFinding('a move of a draft is missing');
  let state: string | null = null;
  for (const [index, move] of moves.entries()) {
    if (move.number !== index + 1) return addFinding('the moves of a draft are not numbered from 1', move);
    if (move.from !== state)
      addFinding('a move does not start in the state that the previous move ended in', move);
    if (!isAllowed(move)) addFinding('a move that the state table forbids', move);
    state = move.to;
  }
  if (state !== draft.state)
    addFinding(`a draft is ${draft.state}, but its last move ended in another state`, moves.at(-1));
}

/** Returns whether the state table allows the action in this state. `checkChain` checks the resulting state. */
function isAllowed({ action, from, to }: MoveRow): boolean {
  return isState(to) && (from === null || isState(from)) && can(from, action as Action);
}

/** Checks actions of members at the dashboard. The run also acts in other ways, which leave no audit entry. */
function checkAudit({ rows, actions }: Pick<Facts, 'rows' | 'actions'>, findings: Findings): void {
  const openAudits = rows.audits.filter(({ isCompleted }) => !isCompleted);
  const unansweredActions = actions.filter(
    ({ endedAt, status }) => endedAt === null || status === null || status >= 500,
  );
  for (const { action, project, at } of openAudits) {
    const isExplained = unansweredActions.some(
      (act) => act.project === project && act.at <= at + CLOCK_SKEW_MS,
    );
    if (!isExplained)
      findings.add(
        'I9',
        'an audit entry of an answered action is not completed',
        `${action} of project ${project}`,
      );
  }
}

const CLOCK_SKEW_MS = 1_000;
