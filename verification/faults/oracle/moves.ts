import { can, type Action } from '../../../packages/server/src/modules/drafts/transitions.ts';
import { DRAFT_STATES, type DraftState } from '../../../packages/server/src/modules/drafts/draft.ts';
import type { DraftRow, Facts, MoveRow } from './facts.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I9: every change of a draft is a row, in an unbroken chain from its creation to its current state. Each row is a transition that
 * the state table allows. The email agrees with the draft, and actions of members are in the audit log.
 */
export function judgeMoves({ rows, acts }: Pick<Facts, 'rows' | 'acts'>, findings: Findings): void {
  const moves = Map.groupBy(rows.moves, ({ project, draft }) => `${project} ${draft}`);
  const drafts = new Map(rows.drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  for (const [place, draft] of drafts) {
    const mine = moves.get(place) ?? [];
    judgeChain(draft, mine, findings);
    if (LEFT.includes(draft.state) && !mine.some(({ action }) => action === 'claim'))
      findings.add('I9', 'a draft left that was never claimed', place);
  }
  for (const place of moves.keys())
    if (!drafts.has(place)) findings.add('I9', 'moves of a draft that is not there', place);
  for (const { project, draft: id, state } of rows.messages) {
    const draft = drafts.get(`${project} ${id}`);
    if (!draft || AGREES[state]?.includes(draft.state)) continue;
    const said = `draft ${id} is ${draft.state}, its message ${state}`;
    findings.add('I9', 'a message and its draft say different things', said);
  }
  judgeAudit({ rows, acts }, findings);
}

/** The states of a draft whose email was deferred, whatever holds it. */
const OPEN = ['held', 'scheduled', 'approved'];
const AGREES: Record<string, string[]> = {
  claimed: ['sending'],
  submitting: ['sending'],
  deferred: OPEN,
  sent: ['sent'],
  // A deferred email ends with its draft.
  failed: ['failed', 'canceled', 'skipped'],
  unknown: ['unknown'],
};
const LEFT = ['sending', 'sent', 'unknown'];

const isState = (text: string): text is DraftState => (DRAFT_STATES as readonly string[]).includes(text);

function judgeChain(draft: DraftRow, moves: MoveRow[], findings: Findings): void {
  const name = `draft ${draft.id} of project ${draft.project}`;
  const complain = (what: string, move?: MoveRow): void =>
    findings.add(
      'I9',
      what,
      move
        ? `${name}, move ${move.number}: ${move.action} from ${move.from ?? 'nothing'} to ${move.to}`
        : name,
    );
  if (moves.length !== draft.moves) complain('a move of a draft is missing');
  let at: string | null = null;
  for (const [index, move] of moves.entries()) {
    if (move.number !== index + 1) return complain('the moves of a draft are not counted from one', move);
    if (move.from !== at) complain('a move does not begin where the one before ended', move);
    if (!isMove(move)) complain('a move that nothing leads to', move);
    at = move.to;
  }
  if (at !== draft.state)
    complain(`a draft is ${draft.state}, and its last move led elsewhere`, moves.at(-1));
}

/** Returns whether the state table allows the action in this state. `judgeChain` checks the resulting state. */
function isMove({ action, from, to }: MoveRow): boolean {
  return isState(to) && (from === null || isState(from)) && can(from, action as Action);
}

/** Checks actions of members at the dashboard. The run also acts in other ways, which leave no audit entry. */
function judgeAudit({ rows, acts }: Pick<Facts, 'rows' | 'acts'>, findings: Findings): void {
  const unended = rows.audits.filter(({ isDone }) => !isDone);
  const unanswered = acts.filter(({ done, status }) => done === null || status === null || status >= 500);
  for (const { action, project, at } of unended) {
    const isExplained = unanswered.some((act) => act.project === project && act.at <= at + CLOCKS_MS);
    if (!isExplained)
      findings.add(
        'I9',
        'an audit entry without its end, of something that was answered',
        `${action} of project ${project}`,
      );
  }
}

const CLOCKS_MS = 1_000;
