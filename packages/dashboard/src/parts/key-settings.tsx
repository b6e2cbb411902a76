import { Group, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { isSingle, type KeyWishes } from './keys.ts';
import { Shortcut } from './shortcut.tsx';
import { useKeyboard } from './use-keys.tsx';
import { SmallTable } from './small-table.tsx';
import { ActButton } from './act-button.tsx';
import { textProps } from './bind.ts';

/** The single-key shortcuts that can be changed: those of lists and of Review. */
const OURS: [string, string][] = [
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['x', 'Select'],
  ['a', 'Approve'],
  ['e', 'Edit'],
  ['h', 'Postpone'],
  ['s', 'Skip'],
  ['w', 'Show why'],
  ['u', 'Undo'],
  ['/', 'Filter'],
  ['?', 'Help'],
];

/** Turns single-key shortcuts off or changes them. Stored in this browser. */
export function KeySettings(): ReactNode {
  const { wishes, wish } = useKeyboard();
  const give = (key: string, replacement: string): void =>
    wish({ ...wishes, instead: instead(wishes, key, replacement) });
  const isChanged = Object.keys(wishes.instead).length > 0;
  const problem = clash(wishes);
  return (
    <Stack gap="sm">
      <Switch
        label="Single-key shortcuts"
        description="If off, only shortcuts with Ctrl or ⌘, Enter, Esc and the arrow keys work. Stored in this browser."
        checked={!wishes.off}
        onChange={(event) => wish({ ...wishes, off: !event.currentTarget.checked })}
      />
      <SmallTable
        aria-label="Keyboard shortcuts"
        verticalSpacing={4}
        maw={480}
        heads={['Action', 'Default', 'Your key']}
      >
        {OURS.map(([key, label]) => (
          <KeyRow
            key={key}
            action={{ key, label }}
            value={wishes.instead[key] ?? ''}
            isDisabled={wishes.off}
            onChange={(replacement) => give(key, replacement)}
          />
        ))}
      </SmallTable>
      <Group>
        <ActButton size="xs" disabled={!isChanged} onClick={() => wish({ ...wishes, instead: {} })}>
          Reset to defaults
        </ActButton>
        {problem !== null && (
          <Text size="xs" c="var(--mantine-color-error)">
            {problem}
          </Text>
        )}
      </Group>
    </Stack>
  );
}

type KeyRowProps = {
  action: { key: string; label: string };
  value: string;
  isDisabled: boolean;
  onChange: (replacement: string) => void;
};

function KeyRow({ action: { key, label }, value, isDisabled, onChange }: KeyRowProps): ReactNode {
  return (
    <Table.Tr>
      <Table.Td>{label}</Table.Td>
      <Table.Td>
        <Shortcut keys={key} />
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          w={64}
          maxLength={1}
          disabled={isDisabled}
          aria-label={`Your key for: ${label}`}
          {...textProps(value, onChange)}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function instead(wishes: KeyWishes, key: string, replacement: string): Record<string, string> {
  const { [key]: _, ...others } = wishes.instead;
  const name = replacement.toLowerCase().trim();
  return name !== '' && name !== key && isSingle(name) ? { ...others, [key]: name } : others;
}

/** The same key for two actions: the second would never run. */
function clash({ instead: replacements }: KeyWishes): string | null {
  const keys = OURS.map(([key]) => replacements[key] ?? key);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  return twice === undefined ? null : `${twice} is used twice`;
}
