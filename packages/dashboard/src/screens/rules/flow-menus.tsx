import { Kbd, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { STEP_LABELS, type StepKind } from './document.ts';
import { useFlow } from './flow-context.ts';
import { mayHold, positionOf } from './flow-edits.ts';
import { type MenuState, STEP_ICONS } from './flow-node.tsx';

const KINDS = Object.entries(STEP_LABELS) as [StepKind, string][];

/** The steps that can be added at a place. */
export function InsertMenu({
  target,
  path,
  isLast,
  ...state
}: MenuState & { path: string; isLast: boolean }): ReactNode {
  const { actions } = useFlow();
  const { list } = positionOf(path);
  return (
    <Menu {...state} position="bottom" returnFocus={false}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {KINDS.filter(([kind]) => mayHold(list, kind, isLast)).map(([kind, text]) => {
          const Icon = STEP_ICONS[kind];
          return (
            <Menu.Item
              key={kind}
              leftSection={<Icon size={14} aria-hidden="true" />}
              onClick={() => actions.insert(path, kind)}
            >
              {text}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

/** What can be done with a step. */
export function StepMenu({ target, path, ...state }: MenuState & { path: `steps.${string}` }): ReactNode {
  const { actions } = useFlow();
  return (
    <Menu {...state} position="bottom-end" returnFocus={false}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => actions.open(path)}>Edit</Menu.Item>
        <MoveItem path={path} by={-1} label="Move up" hint="Alt ↑" />
        <MoveItem path={path} by={1} label="Move down" hint="Alt ↓" />
        <Menu.Divider />
        <Menu.Item
          color="var(--mantine-color-error)"
          rightSection={<Kbd size="xs">Del</Kbd>}
          onClick={() => actions.remove(path)}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type MoveProps = { path: string; by: -1 | 1; label: string; hint: string };

/** Rendered when the menu opens: whether a step can move depends on the steps around it. */
function MoveItem({ path, by, label, hint }: MoveProps): ReactNode {
  const { actions } = useFlow();
  return (
    <Menu.Item
      disabled={!actions.mayMove(path, by)}
      rightSection={<Kbd size="xs">{hint}</Kbd>}
      onClick={() => actions.move(path, by)}
    >
      {label}
    </Menu.Item>
  );
}
