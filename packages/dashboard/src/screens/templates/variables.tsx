import { Progress, Table, Text } from '@mantine/core';
import { Check, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TemplateVariable } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Muted } from '../../parts/muted.tsx';

type Props = { variables: TemplateVariable[]; missing: string[] };

/** The variables of a template, how many users have a value, and what happens without one. */
export function Variables({ variables, missing }: Props): ReactNode {
  if (variables.length === 0) return <Muted>This template uses no variables.</Muted>;
  return (
    <Table.ScrollContainer minWidth={0}>
      <SmallTable
        aria-label="Variables of this template"
        heads={['Variable', 'Available for', 'If missing']}
        rows={variables.map((variable) => ({
          key: variable.name,
          cells: [
            <code>{variable.name}</code>,
            <Share {...variable} />,
            <Fallback {...variable} isMissing={missing.includes(variable.name)} />,
          ],
        }))}
      />
    </Table.ScrollContainer>
  );
}

/** Values of the project are available in every email. */
function isOurs(name: string): boolean {
  return name.startsWith('project.') || name === 'unsubscribe_url';
}

function Share({ share, events, name }: TemplateVariable): ReactNode {
  if (isOurs(name)) return <Text size="sm">all emails</Text>;
  if (share === null) return <Muted>{sourceWords(name, events)}</Muted>;
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
      <Muted size="xs">
        <code>{`{{ ${name} | default: "…" }}`}</code> sets a default
      </Muted>
    </>
  );
}

function sourceWords(name: string, events: string[]): string {
  if (name.startsWith('run.')) return 'emails of rules with an end date, such as a trial’s end';
  return events.length === 0 ? 'no event has it yet' : `in ${events.join(', ')}`;
}
