import { getThemeColor, useMantineTheme } from '@mantine/core';
import { Fragment, type ReactNode, useEffect } from 'react';
import { axisLabel } from './chart-axes.ts';
import type { InnerProps } from './chart-inner.tsx';
import { defaultFormat } from './chart-with-table.tsx';
import classes from './chart-with-table.module.css';

type TipProps = Pick<InnerProps, 'rows' | 'x' | 'series' | 'format' | 'openLabel' | 'onOpen'> & {
  /** The x value of the marked point; null if none is marked. */
  label: string | null;
  onMark: (value: string | null) => void;
};

/** The tooltip of a point, with the value of each series. It reports the point, because recharts keeps it to itself. */
export function ChartTip(props: TipProps): ReactNode {
  const { rows, x, series, format = defaultFormat, openLabel, onOpen, label, onMark } = props;
  const theme = useMantineTheme();
  useEffect(() => onMark(label));
  const row = label === null ? undefined : rows.find((point) => String(point[x]) === label);
  if (!row) return null;
  return (
    <div className={classes.tip}>
      <strong>{axisLabel(row[x])}</strong>
      {series.map(({ name, label: text, color }) => {
        const value = row[name];
        return (
          <Fragment key={name}>
            <i style={{ background: getThemeColor(color, theme) }} />
            <span>{text}</span>
            <b>{typeof value === 'number' ? format(value) : (value ?? '–')}</b>
          </Fragment>
        );
      })}
      {onOpen && openLabel !== undefined && <em>{openLabel}</em>}
    </div>
  );
}
