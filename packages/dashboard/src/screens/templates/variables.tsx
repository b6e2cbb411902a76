import { Progress, Table, Text } from '@mantine/core';
import { Check, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TemplateVariable } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';

type Props = { variables: TemplateVariable[]; missing: string[] };

/** What the letter reads, of how many people that is known, and what happens where it is not. */
export function Variables({ variables, missing }: Props): ReactNode {
  if (variables.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It reads nothing about anybody.
      </Text>
    );
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table aria-label="Variables of this letter">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Variable</Table.Th>
            <Table.Th scope="col">Known of</Table.Th>
            <Table.Th scope="col">Where it is not</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {variables.map((variable) => (
            <Table.Tr key={variable.name}>
              <Table.Td>
                <code>{variable.name}</code>
              </Table.Td>
              <Table.Td>
                <Fill {...variable} />
              </Table.Td>
              <Table.Td>
                <Fallback {...variable} isMissing={missing.includes(variable.name)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** What the project says of itself is there for every letter. */
function isOurs(name: string): boolean {
  return name.startsWith('project.') || name === 'unsubscribe_url';
}

function Fill({ fill, from, name }: TemplateVariable): ReactNode {
  if (isOurs(name)) return <Text size="sm">everybody</Text>;
  if (fill === null)
    return (
      <Text size="sm" c="dimmed">
        {sourceWords(name, from)}
      </Text>
    );
  const percent = Math.round(fill * 100);
  return (
    <>
      <Text size="sm">{percent} % of users</Text>
      <Progress value={percent} size="xs" aria-label={`${name}: known of ${percent} % of users`} />
    </>
  );
}

function Fallback({ holds, name, fill, isMissing }: TemplateVariable & { isMissing: boolean }): ReactNode {
  if (isOurs(name)) return <Mark icon={Check} tone="quiet" label="Always known" />;
  if (!holds) return <Mark icon={Check} tone="good" label="Has other words" />;
  if (fill === 1 && !isMissing) return <Mark icon={Check} tone="quiet" label="Known of everybody" />;
  return (
    <>
      <Mark icon={TriangleAlert} tone="warn" label="Waits for a person" />
      <Text size="xs" c="dimmed">
        <code>{`{{ ${name} | default: "…" }}`}</code> gives it other words
      </Text>
    </>
  );
}

function sourceWords(name: string, from: string[]): string {
  if (name.startsWith('run.')) return 'letters about an end, such as that of a trial';
  return from.length === 0 ? 'comes with no event so far' : `comes with ${from.join(', ')}`;
}
