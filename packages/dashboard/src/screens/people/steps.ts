import type { EmailStep, TimelineItem } from '@beckon/contract/dashboard';
import { capital, outcomeWords } from '../../parts/codes.ts';
import { actionWords, draftReasonWords } from '../../parts/draft-words.ts';
import { formatTime } from '../../parts/time.ts';

/** The items of one day in the zone, newest first. */
export type TimelineDay = { day: string; items: TimelineItem[] };

/** Groups items, which are newest first, by day. */
export function timelineDays(items: TimelineItem[], zone: string): TimelineDay[] {
  const days: TimelineDay[] = [];
  for (const item of items) {
    const day = formatTime(item.at, zone, 'day');
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}

/** A step of an email as the timeline shows it, made of one or more recorded steps. */
export type ShownStep = { id: string; at: string; words: string };

/**
 * The steps of an email in short. What one member did in a row is one step ("Ada edited and approved it"), and opening an editor alone is
 * none. An outcome that repeats is counted. All recorded steps remain in the details.
 */
export function shownSteps(steps: EmailStep[]): ShownStep[] {
  const folded: FoldedStep[] = [];
  for (const step of visibleSteps(steps)) {
    const actor = memberOf(step);
    if (actor === null) foldOutcome(folded, step);
    else foldAction(folded, { step, actor });
  }
  return folded.flatMap(toShown);
}

/** `actor`: the member who did it, with their actions. Otherwise `words` happened `count` times. */
type FoldedStep = {
  id: string;
  at: string;
  words: string;
  actor: string | null;
  actions: string[];
  count: number;
};

function visibleSteps(steps: EmailStep[]): EmailStep[] {
  const hasReply = steps.some(({ kind }) => kind === 'reply');
  return steps.filter(({ title }) => !HIDDEN.has(title) && !(hasReply && title === 'email.replied'));
}

function foldAction(folded: FoldedStep[], { step, actor }: { step: EmailStep; actor: string }): void {
  const { id, at, title } = step;
  const actions = EDITOR.has(title) ? [] : [title];
  const last = folded.at(-1);
  if (last?.actor === actor) last.actions.push(...actions);
  else folded.push({ id, at, words: '', actor, actions, count: 1 });
}

function foldOutcome(folded: FoldedStep[], step: EmailStep): void {
  const words = stepWords(step);
  const same = folded.find((earlier) => earlier.words === words);
  if (same && step.kind !== 'draft_changed') same.count += 1;
  else if (folded.at(-1)?.words !== words)
    folded.push({ id: step.id, at: step.at, words, actor: null, actions: [], count: 1 });
}

function toShown({ id, at, words, actor, actions, count }: FoldedStep): ShownStep[] {
  if (actor === null) return [{ id, at, words: count === 1 ? words : `${words} (${count} times)` }];
  return actions.length === 0 ? [] : [{ id, at, words: memberWords(actor, actions) }];
}

/** Steps that last for a moment only, on the way to the next one. */
const HIDDEN = new Set(['claim']);
const EDITOR = new Set(['open_editor', 'close_editor']);

function memberOf({ kind, actor }: EmailStep): string | null {
  return kind === 'draft_changed' && actor !== null && actor !== 'engine' ? actor : null;
}

/** The verbs of actions whose name in a list of changes is no past tense of a member. */
const VERBS: Record<string, string> = {
  undo: 'undid',
  change_mode: 'changed the sending mode of',
  resume: 'rescheduled',
  send_again: 'resent',
  create_resend: 'resent',
};

/** "Ada edited, postponed and approved it". */
function memberWords(actor: string, actions: string[]): string {
  const verbs = [...new Set(actions.map((action) => VERBS[action] ?? actionWords(action).toLowerCase()))];
  const last = verbs.at(-1) ?? '';
  const earlier = verbs.slice(0, -1).join(', ');
  return `${actor} ${earlier === '' ? last : `${earlier} and ${last}`} it`;
}

const HAS_REASON = new Set(['hold', 'cancel', 'skip', 'fail', 'hold_while_sending', 'return']);

/** One recorded step, with the reason of a hold: "Held: quiet hours". */
export function stepWords({ kind, title, actor, detail }: EmailStep): string {
  if (kind === 'reply') return 'Replied';
  if (kind === 'outcome') return outcomeStepWords(title, detail['class']);
  const by = actor === null || actor === 'engine' ? '' : ` by ${actor}`;
  const { reason } = detail;
  const why = HAS_REASON.has(title) && typeof reason === 'string' ? `: ${draftReasonWords(reason)}` : '';
  return `${actionWords(title)}${by}${why}`;
}

/** Opens and clicks of bots, and complaints, are stored with their class. */
function outcomeStepWords(title: string, kind: unknown): string {
  if (title === 'email.unsubscribed' && kind === 'complaint') return 'Complained';
  const words = capital(outcomeWords(title));
  const isOfBot = (title === 'email.opened' || title === 'email.clicked') && kind !== 'no';
  return isOfBot ? `${words} by a bot` : words;
}
