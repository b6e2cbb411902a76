import { ActionIcon, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, Copy, Ellipsis, Power } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleListed } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { refused, notify } from '../../parts/index.ts';
import classes from './rules.module.css';
import { SwitchRule } from './switch-rule.tsx';

type Props = { rule: RuleListed; move: ((id: string, by: number) => void) | null };

export function RuleMenu({ rule, move }: Props): ReactNode {
  const [isSwitching, setSwitching] = useState(false);
  const { id: project } = useProject();
  const navigate = useNavigate();
  const duplicate = useChange('POST /projects/:project/rules/:rule/duplicate', {
    refreshes: ['GET /projects/:project/rules'],
    onDone: ({ data }) => {
      notify(`${data.name} created, disabled`);
      void navigate({ to: '/p/$project/rules/$rule', params: { project: String(project), rule: data.id } });
    },
    onRefused: (error) => refused(error),
  });
  return (
    <div className={classes.above}>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${rule.name}`}>
            <Ellipsis size={16} aria-hidden="true" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {move && (
            <>
              <Menu.Item
                leftSection={<ArrowUp size={14} aria-hidden="true" />}
                onClick={() => move(rule.id, -1)}
              >
                Move up
              </Menu.Item>
              <Menu.Item
                leftSection={<ArrowDown size={14} aria-hidden="true" />}
                onClick={() => move(rule.id, 1)}
              >
                Move down
              </Menu.Item>
              <Menu.Divider />
            </>
          )}
          <Menu.Item
            leftSection={<Copy size={14} aria-hidden="true" />}
            onClick={() => duplicate.mutate({ params: { rule: rule.id }, body: {} })}
          >
            Duplicate
          </Menu.Item>
          <Menu.Item leftSection={<Power size={14} aria-hidden="true" />} onClick={() => setSwitching(true)}>
            {rule.on ? 'Disable…' : 'Enable…'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SwitchRule rule={rule} opened={isSwitching} onClose={() => setSwitching(false)} />
    </div>
  );
}
