import { List } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiKey } from '@beckon/contract/dashboard';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { useNow } from '../../parts/index.ts';
import { busiestKeys, requestsIn, rowsOf, unusedKeys } from './traffic.ts';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

/** The number of keys in the chart: the busiest ones. */
const SHOWN_MAX = 6;

/** Explains how to replace a key without losing requests, with a chart of the requests per key. */
export function Rotation({ keys }: { keys: ApiKey[] }): ReactNode {
  const now = useNow();
  if (keys.length === 0) return null;
  const busiest = busiestKeys(keys, SHOWN_MAX);
  const unused = unusedKeys(keys, now);
  const total = keys.reduce((sum, { traffic }) => sum + requestsIn(traffic, 14), 0);
  return (
    <Titled id="rotation" title="Replace a key" gap="sm">
      <List type="ordered" size="sm" maw={720} spacing={4}>
        <List.Item>Create a new key, and use it on the server instead of the old one.</List.Item>
        <List.Item>Wait until the old key has no more requests. The chart shows each key.</List.Item>
        <List.Item>Revoke the old key.</List.Item>
      </List>
      {unused.length > 0 && <Muted>Unused for 14 days: {unused.map(({ label }) => label).join(', ')}.</Muted>}
      <ChartWithTable
        title="Requests by key"
        description={`${total.toLocaleString('en-GB')} requests by ${keys.length === 1 ? 'one key' : `${keys.length} keys`} in 14 days`}
        kind="stacked"
        rows={rowsOf(busiest)}
        x="day"
        xLabel="Day (UTC)"
        series={busiest.map(({ id, label }) => ({ name: id, label }))}
      />
    </Titled>
  );
}
