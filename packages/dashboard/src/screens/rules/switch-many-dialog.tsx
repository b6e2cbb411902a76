import { Modal, Stack, Text } from '@mantine/core';
import type { RuleListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { Bullets } from '../../parts/bullets.tsx';
import { notifyBulk } from '../../parts/bulk-result.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { formatCount } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';

type Props = { rules: RuleListed[]; on: boolean; opened: boolean; onClose: () => void; onDone: () => void };

/** Shows the effects on drafts and users before many rules are enabled or disabled. */
export function SwitchManyDialog({ opened, ...form }: Props): ReactNode {
  const { on, rules, onClose } = form;
  return (
    <Modal opened={opened} onClose={onClose} title={`${on ? 'Enable' : 'Disable'} ${countOf(rules.length)}`}>
      <SwitchForm {...form} />
    </Modal>
  );
}

function SwitchForm({ rules, on, onClose, onDone }: Omit<Props, 'opened'>): ReactNode {
  const change = useChange('POST /projects/:project/rules/switch-many', {
    refreshes: ['GET /projects/:project/rules', 'GET /projects/:project/rules/:rule'],
    onDone: ({ data: { done, refused } }) => {
      onDone();
      onClose();
      const verb = on ? 'enabled' : 'disabled';
      notifyBulk({
        done,
        one: `rule ${verb}`,
        many: `rules ${verb}`,
        refused: refused.map(({ message, rows, rules: names }) => ({
          message: `${message} (${listed(names)})`,
          rows,
        })),
      });
    },
  });
  const body = { on, rules: rules.map(({ id, updated_at: at }) => ({ id, updated_at: at })) };
  return (
    <Stack gap="md">
      <Text size="sm">{(on ? ENABLING : DISABLING)[rules.length === 1 ? 'one' : 'many']}</Text>
      <Bullets spacing={4} items={effects(rules, on)} />
      <Muted size="xs">{listed(rules.map(({ name }) => name))}</Muted>
      <DialogAction change={change} onCancel={onClose} run={() => change.mutate({ body })}>
        {on ? 'Enable' : 'Disable'} {countOf(rules.length)}
      </DialogAction>
    </Stack>
  );
}

const ENABLING = {
  one: 'The rule evaluates what is accepted from now on.',
  many: 'The rules evaluate what is accepted from now on.',
};
const DISABLING = {
  one: 'The rule enrolls no users until you enable it again. A running enrollment of members is canceled.',
  many: 'The rules enroll no users until you enable them again. Running enrollments of members are canceled.',
};

function effects(rules: RuleListed[], on: boolean): string[] {
  const sum = (count: 'open_drafts' | 'users'): number =>
    rules.reduce((total, rule) => total + rule[count], 0);
  const drafts = `Open drafts: ${formatCount(sum('open_drafts'))}.`;
  const users = `Users in a run: ${formatCount(sum('users'))}.`;
  if (!on) return [`${drafts} Those that wait for nothing else are held.`, `${users} Their runs are paused.`];
  return [
    `${drafts} Those that were held continue after at least 15 minutes.`,
    `${users} Their runs continue.`,
    'A rule that has not enrolled a user yet stays disabled. Enable it on its page, which shows a backtest first.',
  ];
}

const NAMED_MAX = 10;

function listed(names: string[]): string {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function countOf(rules: number): string {
  return rules === 1 ? '1 rule' : `${formatCount(rules)} rules`;
}
