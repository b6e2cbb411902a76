import '@mantine/tiptap/styles.css';
import { Group, Menu, SegmentedControl, Text } from '@mantine/core';
import { RichTextEditor } from '@mantine/tiptap';
import { type Editor, useEditor } from '@tiptap/react';
import { Braces } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CodeEditor } from './code-editor.tsx';
import classes from './rich-editor.module.css';
import type { RichEditorProps } from './rich-editor.tsx';
import { EXTENSIONS, isWhole, readMarkdown, writeMarkdown } from './rich-text.ts';

type InnerProps = Omit<RichEditorProps, 'label' | 'fault'> & { labelId: string; height: number };

export default function RichEditorInner(props: InnerProps): ReactNode {
  const { value, onChange, height } = props;
  const [mode, setMode] = useState(() => (isWhole(value) ? 'email' : 'text'));
  const canBeEmail = mode === 'email' || isWhole(value);
  return (
    <div className={classes.frame}>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="xs" c="dimmed">
          {canBeEmail ? '' : 'Images, tables and HTML can only be edited as text.'}
        </Text>
        <SegmentedControl
          size="xs"
          value={mode}
          onChange={setMode}
          aria-label="Edit as"
          data={[
            { value: 'email', label: 'Rich text', disabled: !canBeEmail },
            { value: 'text', label: 'Markdown' },
          ]}
        />
      </Group>
      {mode === 'email' ? (
        <Email {...props} />
      ) : (
        <CodeEditor
          value={value}
          onChange={onChange}
          language="liquid"
          label="Markdown"
          height={`${height}px`}
        />
      )}
    </div>
  );
}

function Email({ value, onChange, labelId, variables = [], height }: InnerProps): ReactNode {
  const written = useRef(value);
  const latestOnChange = useRef(onChange);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  const editor = useEditor({
    extensions: EXTENSIONS,
    content: readMarkdown(value),
    shouldRerenderOnTransaction: true,
    editorProps: { attributes: { 'aria-labelledby': labelId, role: 'textbox', 'aria-multiline': 'true' } },
    onUpdate: ({ editor: changed }) => {
      written.current = writeMarkdown(changed.getJSON());
      latestOnChange.current(written.current);
    },
  });
  useEffect(() => {
    if (value === written.current) return;
    written.current = value;
    editor?.commands.setContent(readMarkdown(value), { emitUpdate: false });
  }, [value, editor]);
  return (
    <RichTextEditor
      editor={editor}
      classNames={{ content: classes.content ?? '' }}
      style={{ '--height': `${height}px` }}
    >
      <RichTextEditor.Toolbar>
        <RichTextEditor.ControlsGroup>
          <RichTextEditor.Bold />
          <RichTextEditor.Italic />
          <RichTextEditor.Code />
        </RichTextEditor.ControlsGroup>
        <RichTextEditor.ControlsGroup>
          <RichTextEditor.H2 />
          <RichTextEditor.BulletList />
          <RichTextEditor.OrderedList />
          <RichTextEditor.Blockquote />
          <RichTextEditor.Hr />
        </RichTextEditor.ControlsGroup>
        <RichTextEditor.ControlsGroup>
          <RichTextEditor.Link />
          <RichTextEditor.Unlink />
        </RichTextEditor.ControlsGroup>
        <RichTextEditor.ControlsGroup>
          <RichTextEditor.Undo />
          <RichTextEditor.Redo />
        </RichTextEditor.ControlsGroup>
        {variables.length > 0 && <Variables editor={editor} variables={variables} />}
      </RichTextEditor.Toolbar>
      <RichTextEditor.Content />
    </RichTextEditor>
  );
}

function Variables({ editor, variables }: { editor: Editor | null; variables: string[] }): ReactNode {
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <RichTextEditor.Control aria-label="Insert variable" title="Insert variable">
          <Braces size={15} aria-hidden="true" />
        </RichTextEditor.Control>
      </Menu.Target>
      <Menu.Dropdown mah={280} style={{ overflowY: 'auto' }}>
        {variables.map((piece) => (
          <Menu.Item
            key={piece}
            onClick={() => editor?.chain().focus().insertContent({ type: 'liquid', attrs: { piece } }).run()}
          >
            <code>{piece}</code>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
