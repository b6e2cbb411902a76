import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AudienceDetails } from '@beckon/contract/dashboard';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { formatCount, Person, Sentence, When } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { UsedBy } from '../../parts/used-by.tsx';

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
        <Muted>
          {formatCount(members)} members · {formatCount(today?.joined ?? 0)} joined and{' '}
          {formatCount(today?.left ?? 0)} left today · changed <When at={updatedAt} />
        </Muted>
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
      <UsedBy uses={uses} none="Not used yet." level={2} />
      <Stack gap={4}>
        <Title order={2} size="h5">
          Some members
        </Title>
        {sample.length === 0 && <Muted>No members.</Muted>}
        {sample.map(({ external_user_id: id, since }) => (
          <Text key={id} size="sm">
            <Person id={id} /> since <When at={since} />
          </Text>
        ))}
      </Stack>
    </Stack>
  );
}
