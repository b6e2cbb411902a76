import { capital, named, spaced } from '../../parts/codes.ts';

const NOUNS: Record<string, string> = {
  dead_letter: 'Dead-lettered record',
  key: 'API key',
  session: 'Sign-in session',
  test_clock: 'Test clock',
  two_factor: 'Authenticator app',
  view: 'Saved view',
  webhook: 'Webhook endpoint',
  pause: 'Pause of sending',
};
const VERBS: Record<string, string> = { look: 'previewed', set_up: 'set up' };

/** `rule.set_mode` as "Rule: set mode". */
export function auditWords(action: string): string {
  const [noun = '', verb = ''] = action.split('.');
  return verb === '' ? capital(spaced(noun)) : `${capital(named(NOUNS, noun))}: ${named(VERBS, verb)}`;
}
