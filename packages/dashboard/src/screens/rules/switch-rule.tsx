import type { ReactNode } from 'react';
import type { RuleListed } from '@beckon/contract/dashboard';
import { later, WhenOpened } from '../../parts/index.ts';

const DisableDialog = later(() => import('./disable-dialog.tsx'), 'DisableDialog', null);
const EnableSheet = later(() => import('./enable-sheet.tsx'), 'EnableSheet', null);

export type SwitchProps = {
  rule: Pick<RuleListed, 'id' | 'name' | 'on'>;
  opened: boolean;
  onClose: () => void;
};

/** Enables or disables a rule, after showing the effects. */
export function SwitchRule(props: SwitchProps): ReactNode {
  return (
    <WhenOpened opened={props.opened}>
      {props.rule.on ? <DisableDialog {...props} /> : <EnableSheet {...props} />}
    </WhenOpened>
  );
}
