import { Button, Group, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { isSingle, type KeyWishes } from './keys.ts';
import { Shortcut } from './shortcut.tsx';
import { useKeyboard } from './use-keys.tsx';

/** The keys of one letter that can be given another. Those of lists and of Review are what hands learn. */
const OURS: [string, string][] = [
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['x', 'Choose'],
  ['a', 'Approve'],
  ['e', 'Edit'],
  ['h', 'Postpone'],
  ['s', 'Skip'],
  ['w', 'Why'],
  ['u', 'Undo'],
  ['/', 'Filter'],
  ['?', 'Help'],
];

/** Single-letter keys off, or others instead; kept in this browser. */
export function KeySettings(): ReactNode {
  const { wishes, wish } = useKeyboard();
  const give = (key: string, own: string): void => wish({ ...wishes, instead: instead(wishes, key, own) });
  const isChanged = Object.keys(wishes.instead).length > 0;
  return (
    <Stack gap="sm">
      <Switch
        label="Single-letter keys"
        description="Off: only keys with Ctrl or ⌘, Enter, Esc and the arrows do something. Kept in this browser."
        checked={!wishes.off}
        onChange={(event) => wish({ ...wishes, off: !event.currentTarget.checked })}
      />
      <Table aria-label="Keys" verticalSpacing={4} maw={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">What it does</Table.Th>
            <Table.Th scope="col">Key</Table.Th>
            <Table.Th scope="col">Yours instead</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {OURS.map(([key, label]) => (
            <Table.Tr key={key}>
              <Table.Td>{label}</Table.Td>
              <Table.Td>
                <Shortcut keys={key} />
              </Table.Td>
              <Table.Td>
                <TextInput
                  size="xs"
                  w={64}
                  maxLength={1}
                  disabled={wishes.off}
                  aria-label={`Your key for: ${label}`}
                  value={wishes.instead[key] ?? ''}
                  onChange={(event) => give(key, event.currentTarget.value)}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group>
        <Button
          variant="default"
          size="xs"
          disabled={!isChanged}
          onClick={() => wish({ ...wishes, instead: {} })}
        >
          As they were
        </Button>
        {clash(wishes) !== null && (
          <Text size="xs" c="var(--mantine-color-error)">
            {clash(wishes)}
          </Text>
        )}
      </Group>
    </Stack>
  );
}

function instead(wishes: KeyWishes, key: string, own: string): Record<string, string> {
  const { [key]: _, ...others } = wishes.instead;
  const name = own.toLowerCase().trim();
  return name !== '' && name !== key && isSingle(name) ? { ...others, [key]: name } : others;
}

/** Two meanings on one key: the second would never be heard. */
function clash({ instead: given }: KeyWishes): string | null {
  const keys = OURS.map(([key]) => given[key] ?? key);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  return twice === undefined ? null : `${twice} is there twice`;
}
