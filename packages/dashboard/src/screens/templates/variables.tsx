import { Progress, Table, Text } from '@mantine/core';
import { Check, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TemplateVariable } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';

type Props = { variables: TemplateVariable[]; missing: string[] };

/** The variables of a template, how many users have a value, and what happens without one. */
export function Variables({ variables, missing }: Props): ReactNode {
  if (variables.length === 0)
    return (
      <Text size="sm" c="dimmed">
        This template uses no variables.
      </Text>
    );
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table aria-label="Variables of this template">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Variable</Table.Th>
            <Table.Th scope="col">Available for</Table.Th>
            <Table.Th scope="col">If missing</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {variables.map((variable) => (
            <Table.Tr key={variable.name}>
              <Table.Td>
                <code>{variable.name}</code>
              </Table.Td>
              <Table.Td>
                <Share {...variable} />
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

/** Values of the project are available in every email. */
function isOurs(name: string): boolean {
  return name.startsWith('project.') || name === 'unsubscribe_url';
}

function Share({ share, events, name }: TemplateVariable): ReactNode {
  if (isOurs(name)) return <Text size="sm">all emails</Text>;
  if (share === null)
    return (
      <Text size="sm" c="dimmed">
        {sourceWords(name, events)}
      </Text>
    );
  const percent = Math.round(share * 100);
  return (
    <>
      <Text size="sm">{percent} % of users</Text>
      <Progress value={percent} size="xs" aria-label={`${name}: available for ${percent} % of users`} />
    </>
  );
}

function Fallback({
  required,
  name,
  share,
  isMissing,
}: TemplateVariable & { isMissing: boolean }): ReactNode {
  if (isOurs(name)) return <Mark icon={Check} tone="quiet" label="Always available" />;
  if (!required) return <Mark icon={Check} tone="good" label="Default is used" />;
  if (share === 1 && !isMissing) return <Mark icon={Check} tone="quiet" label="All users have it" />;
  return (
    <>
      <Mark icon={TriangleAlert} tone="warn" label="Draft is held" />
      <Text size="xs" c="dimmed">
        <code>{`{{ ${name} | default: "…" }}`}</code> sets a default
      </Text>
    </>
  );
}

function sourceWords(name: string, events: string[]): string {
  if (name.startsWith('run.')) return 'emails of rules with an end date, such as a trial’s end';
  return events.length === 0 ? 'no event has it yet' : `in ${events.join(', ')}`;
}
