import type { RuleListed } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';
import { users } from './enrollment-words.ts';

/** Enables or disables a rule. */
export function useSwitch(rule: Pick<RuleListed, 'name'>, onDone: () => void) {
  return useChange('POST /projects/:project/rules/:rule/switch', {
    refreshes: [
      'GET /projects/:project/rules',
      'GET /projects/:project/rules/:rule',
      'GET /projects/:project/rules/:rule/switch',
      'GET /projects/:project/rules/:rule/enrollment',
      'GET /projects/:project/rules/:rule/flow',
    ],
    onDone: ({ data }) => {
      const enrolls = data.enrollment ? `. Enrolling ${users(data.enrollment.members)}` : '';
      notify(`${rule.name} is ${data.rule.on ? 'enabled' : 'disabled'}${enrolls}`);
      onDone();
    },
  });
}
