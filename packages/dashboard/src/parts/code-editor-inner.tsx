import { html } from '@codemirror/lang-html';
import { json } from '@codemirror/lang-json';
import { liquid } from '@codemirror/lang-liquid';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type Extension } from '@uiw/react-codemirror';
import { type ReactNode, useMemo } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';
import classes from './code-editor.module.css';

type InnerProps = Omit<CodeEditorProps, 'label' | 'description' | 'fault'> & {
  labelId: string;
  isFaulty: boolean;
};

const LANGUAGES: Record<CodeEditorProps['language'], () => Extension> = {
  html,
  json,
  // MJML and email HTML: Liquid around HTML.
  liquid: () => liquid({ base: html() }),
};

export default function CodeEditorInner(props: InnerProps): ReactNode {
  const { value, onChange, language, readOnly = false, height = '320px', labelId, isFaulty } = props;
  const scheme = useComputedColorScheme('light');
  const extensions = useMemo(
    () => [
      LANGUAGES[language](),
      EditorView.lineWrapping,
      // A read-only editor can still be focused and scrolled by keyboard.
      EditorView.contentAttributes.of({ 'aria-labelledby': labelId, tabindex: '0' }),
    ],
    [language, labelId],
  );
  return (
    <CodeMirror
      className={classes.editor ?? ''}
      data-faulty={isFaulty}
      value={value}
      height={height}
      theme={scheme}
      readOnly={readOnly}
      editable={!readOnly}
      // Tab moves the focus, so that keyboard users can leave the editor.
      indentWithTab={false}
      basicSetup={{ foldGutter: false, highlightActiveLine: !readOnly, autocompletion: false }}
      extensions={extensions}
      {...(onChange ? { onChange } : {})}
    />
  );
}
