import type { ReactNode } from 'react';
import { Command } from './command.tsx';

/** Any value as JSON text. */
export function Json({ value, what = 'JSON' }: { value: unknown; what?: string }): ReactNode {
  return <Command text={JSON.stringify(value, null, 2) ?? 'null'} what={what} />;
}
