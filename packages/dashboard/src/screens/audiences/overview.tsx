import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AudienceDetails, AudienceUse } from '@beckon/contract/dashboard';
import { useProject } from '../../api/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { formatCount, Person, Sentence, When } from '../../parts/index.ts';

export function Overview({ audience }: { audience: AudienceDetails }): ReactNode {
  const { growth, members, sentence, sample, used_by: uses, updated_at: updatedAt } = audience;
  const today = growth.at(-1);
  const joined = growth.reduce((sum, day) => sum + day.joined, 0);
  const left = growth.reduce((sum, day) => sum + day.left, 0);
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Text>
          <Sentence text={sentence} />
        </Text>
        <Text size="sm" c="dimmed">
          {formatCount(members)} members · {formatCount(today?.joined ?? 0)} joined and{' '}
          {formatCount(today?.left ?? 0)} left today · changed <When at={updatedAt} />
        </Text>
      </Stack>
      <ChartWithTable
        title="Members"
        description={`Members per day (UTC), last 30 days; ${formatCount(joined)} joined and ${formatCount(left)} left`}
        kind="line"
        rows={growth.map((day) => ({ ...day }))}
        x="day"
        xLabel="Day"
        series={[
          { name: 'members', label: 'Members' },
          { name: 'joined', label: 'Joined' },
          { name: 'left', label: 'Left' },
        ]}
      />
      <UsedBy uses={uses} />
      <Stack gap={4}>
        <Title order={2} size="h5">
          Some members
        </Title>
        {sample.length === 0 && (
          <Text size="sm" c="dimmed">
            No members.
          </Text>
        )}
        {sample.map(({ external_user_id: id, since }) => (
          <Text key={id} size="sm">
            <Person id={id} /> since <When at={since} />
          </Text>
        ))}
      </Stack>
    </Stack>
  );
}

function UsedBy({ uses }: { uses: AudienceUse[] }): ReactNode {
  const project = String(useProject().id);
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Used by
      </Title>
      {uses.length === 0 && (
        <Text size="sm" c="dimmed">
          Not used yet.
        </Text>
      )}
      {uses.map(({ kind, id, name }) => (
        <Anchor key={`${kind} ${id}`} component={Link} size="sm" to={`/p/${project}/${kind}s/${id}`}>
          {name} ({kind})
        </Anchor>
      ))}
    </Stack>
  );
}
