import { SegmentedControl, type SegmentedControlProps } from '@mantine/core';
import type { ReactNode } from 'react';

type Props<Value extends string> = Omit<SegmentedControlProps, 'value' | 'onChange' | 'data'> & {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  /** The label of each value, in order. */
  options: Record<Value, string>;
};

/** A choice between a few options, all visible. */
export function Segments<Value extends string>(props: Props<Value>): ReactNode {
  const { label, onChange, options, size = 'xs', ...rest } = props;
  return (
    <SegmentedControl
      aria-label={label}
      size={size}
      data={Object.entries<string>(options).map(([value, text]) => ({ value, label: text }))}
      onChange={(value) => onChange(value as Value)}
      {...rest}
    />
  );
}
