import { BULK_MAX_ROWS, type RuleListed } from '@beckon/contract/dashboard';
import { Power, PowerOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { formatCount, later, WhenOpened } from '../../parts/index.ts';

const SwitchManyDialog = later(() => import('./switch-many-dialog.tsx'), 'SwitchManyDialog', null);

type Props = { rules: RuleListed[]; onDone: () => void };

/** Enables the selected rules that are disabled, or disables those that are enabled. */
export function SwitchMany({ rules, onDone }: Props): ReactNode {
  const [switching, setSwitching] = useState<'on' | 'off'>('off');
  const [isOpen, setOpen] = useState(false);
  const [enabled, disabled] = [rules.filter(({ on }) => on), rules.filter(({ on }) => !on)];
  const open = (to: 'on' | 'off'): void => {
    setSwitching(to);
    setOpen(true);
  };
  return (
    <>
      {disabled.length > 0 && (
        <ActButton icon={Power} disabled={disabled.length > BULK_MAX_ROWS} onClick={() => open('on')}>
          Enable {formatCount(disabled.length)}…
        </ActButton>
      )}
      {enabled.length > 0 && (
        <ActButton icon={PowerOff} disabled={enabled.length > BULK_MAX_ROWS} onClick={() => open('off')}>
          Disable {formatCount(enabled.length)}…
        </ActButton>
      )}
      <WhenOpened opened={isOpen}>
        <SwitchManyDialog
          rules={switching === 'on' ? disabled : enabled}
          on={switching === 'on'}
          opened={isOpen}
          onClose={() => setOpen(false)}
          onDone={onDone}
        />
      </WhenOpened>
    </>
  );
}
