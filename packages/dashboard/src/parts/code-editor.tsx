import { Input, Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useId } from 'react';

export type CodeEditorProps = {
  value: string;
  onChange?: (value: string) => void;
  language: 'html' | 'liquid' | 'json';
  label: string;
  description?: string;
  readOnly?: boolean;
  /** The error, with its position in the text. */
  fault?: string | undefined;
  height?: string;
};

const Inner = lazy(() => import('./code-editor-inner.tsx'));

/** A code editor. Tab leaves it, so that keyboard users are not trapped. */
export function CodeEditor({
  label,
  description,
  fault,
  height = '320px',
  ...props
}: CodeEditorProps): ReactNode {
  const id = useId();
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={fault}
      labelElement="div"
      labelProps={{ id }}
    >
      <Suspense fallback={<Skeleton height={height} mt={4} />}>
        <Inner {...props} height={height} labelId={id} isFaulty={fault !== undefined} />
      </Suspense>
    </Input.Wrapper>
  );
}
