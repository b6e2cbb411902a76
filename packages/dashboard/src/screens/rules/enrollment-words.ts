import type { RuleEnrollment, RuleEnrollmentPreview } from '@beckon/contract/dashboard';

type Preview = Pick<RuleEnrollmentPreview, 'audiences' | 'members' | 'evaluated' | 'would_enroll'>;

/** True if a rule starts when users enter an audience. Only such a rule has members to enroll. */
export function startsByEntering({ when }: Record<string, unknown>): boolean {
  return [when].flat().some((trigger) => {
    const { audience, move } = (trigger ?? {}) as { audience?: unknown; move?: unknown };
    return typeof audience === 'string' && move === 'joined';
  });
}

export function audienceWords({ audiences }: Pick<Preview, 'audiences'>): string {
  const names = audiences.map(({ name }) => `“${name}”`);
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** `12 of 30 users in “Trials” would be enrolled.` */
export function previewWords(preview: Preview): string {
  const { members, evaluated, would_enroll: enrolled } = preview;
  const audience = audienceWords(preview);
  const building = preview.audiences.find(({ ready }) => !ready);
  if (building) return `The audience “${building.name}” is still being built. Try again when it is ready.`;
  if (members === 0) return `No users are in ${audience} now.`;
  const isCut = evaluated < members;
  const of = isCut ? `the first ${count(evaluated)} of ${count(members)} users` : users(members);
  return `${count(enrolled)} of ${of} in ${audience} would be enrolled.`;
}

/** The label of the button. If more members exist than were evaluated, it names no number. */
export function enrollLabel({ members, evaluated, would_enroll: enrolled }: Preview): string {
  return evaluated < members ? 'Enroll members' : `Enroll ${users(enrolled)}`;
}

export function canEnroll({ audiences, members }: Preview): boolean {
  return audiences.length > 0 && audiences.every(({ ready }) => ready) && members > 0;
}

/** True if an enrollment could enroll any user. Members beyond those that the preview evaluated may be enrolled too. */
export function canStart(preview: Preview): boolean {
  return canEnroll(preview) && (preview.would_enroll > 0 || preview.evaluated < preview.members);
}

const STATES = { running: 'Enrolling members', done: 'Members enrolled', canceled: 'Enrollment canceled' };

export function enrollmentTitle({ state }: Pick<RuleEnrollment, 'state'>): string {
  return STATES[state];
}

const CANCELED = {
  rule_off: 'The rule was disabled.',
  rule_edited: 'The rule was edited. Preview and enroll its members again.',
};

/** `1,200 of 5,000 members processed, 1,150 enrolled.` */
export function progressWords(
  enrollment: Pick<RuleEnrollment, 'state' | 'members' | 'processed' | 'enrolled' | 'cancel_reason'>,
) {
  const { state, members, processed, enrolled, cancel_reason: reason } = enrollment;
  const head = `${count(processed)} of ${count(members)} members processed, ${count(enrolled)} enrolled.`;
  if (state === 'running') return `${head} Disable the rule to cancel.`;
  return reason === null ? head : `${head} ${CANCELED[reason]}`;
}

export function users(number: number): string {
  return `${count(number)} ${number === 1 ? 'user' : 'users'}`;
}

function count(number: number): string {
  return number.toLocaleString('en-GB');
}
