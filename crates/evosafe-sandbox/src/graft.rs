//! Gives the shared provider a door to its own memory.
//!
//! Parsing a candidate costs some 0.3 us a byte, in every trajectory. What parsing leaves behind
//! is memory and nothing else, so it can be done once and copied (`image.rs`); but wasmtime gives
//! no access to the memory inside a component. So a core module is added to the built component
//! that shares QuickJS's memory, and three functions of it are exported:
//!
//! - `image-read: func() -> list<u8>`: all of memory. The instance is of no use afterwards: one
//!   page is added to return the list in.
//! - `image-aim: func(offset: u32, pages: u32)`: where the next bytes go, and the least size of memory.
//! - `image-write: func(bytes: list<u8>)`: puts bytes there. The canonical ABI asks a function of
//!   the module's own where to copy the list to; so it is copied once, to where it belongs.
//!
//! A candidate cannot reach them: they are exports, and JavaScript sees imports only.

use wasm_encoder::{
    Alias, BlockType, CanonicalFunctionSection, CanonicalOption, CodeSection, Component,
    ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentSectionId,
    ComponentTypeSection, ComponentValType, ConstExpr, EntityType, ExportKind, ExportSection,
    Function, FunctionSection, GlobalSection, GlobalType, ImportSection, InstanceSection, MemArg,
    MemoryType, Module, ModuleArg, ModuleSection, PrimitiveValType, RawSection, TypeSection,
    ValType,
};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentInstance,
    ComponentOuterAliasKind, ExternalKind, Parser, Payload,
};

/// All of memory.
pub const READ: &str = "image-read";
/// Where the next bytes go.
pub const AIM: &str = "image-aim";
/// Puts bytes there.
pub const WRITE: &str = "image-write";

/// Raised when what is added changes: cached providers are of one revision.
pub const REVISION: &str = "image-1";

/// A function of the contract: whose instance has it has the memory.
const LANDMARK: &str = "begin";

/// The component with the three functions exported.
///
/// # Errors
/// If it is not put together as the builder of this version does.
pub fn graft(wasm: &[u8]) -> Result<Vec<u8>, String> {
    let level = Level::read(wasm)?;
    let mut component = Component::new();
    let inner = match (level.memory, level.landmark) {
        (Some(_), _) => None,
        (None, Some(instance)) => Some((instance, level.component_of(instance)?)),
        (None, None) => return Err(format!("no component in it lifts `{LANDMARK}`")),
    };
    let mut nested = 0;
    for section in &level.sections {
        if section.id == ComponentSectionId::Component as u8 {
            if inner.is_some_and(|(_, index)| index == nested) {
                let grafted = graft(section.data)?;
                component.section(&RawSection { id: section.id, data: &grafted });
                nested += 1;
                continue;
            }
            nested += 1;
        }
        component.section(section);
    }
    let functions = match (inner, level.memory) {
        (Some((instance, _)), _) => level.pass_on(&mut component, instance),
        (None, Some(memory)) => level.add_module(&mut component, memory),
        (None, None) => unreachable!("refused above"),
    };
    let mut exports = ComponentExportSection::new();
    for (name, function) in functions {
        exports.export(name, ComponentExportKind::Func, function, None);
    }
    component.section(&exports);
    Ok(component.finish())
}

/// One component's sections and the sizes of its index spaces, nested ones left out.
#[derive(Default)]
struct Level<'a> {
    sections: Vec<RawSection<'a>>,
    core_modules: u32,
    core_instances: u32,
    core_functions: u32,
    types: u32,
    functions: u32,
    instances: u32,
    /// Instances made of a component here: instance, component.
    made_of: Vec<(u32, u32)>,
    /// The memory that lifted functions use, if any is lifted here.
    memory: Option<u32>,
    /// The instance whose `begin` is passed on.
    landmark: Option<u32>,
}

impl<'a> Level<'a> {
    fn read(wasm: &'a [u8]) -> Result<Self, String> {
        let mut level = Self::default();
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload.map_err(|e| e.to_string())?;
            if depth == 0 {
                if let Some((id, range)) = payload.as_section() {
                    let data = usize::try_from(range.start)
                        .ok()
                        .zip(usize::try_from(range.end).ok())
                        .and_then(|(start, end)| wasm.get(start..end));
                    level.sections.push(RawSection { id, data: data.ok_or("a section is cut")? });
                }
                level.count(&payload).map_err(|e| e.to_string())?;
            }
            match payload {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Ok(level)
    }

    fn count(&mut self, payload: &Payload<'a>) -> wasmparser::Result<()> {
        match payload {
            Payload::ModuleSection { .. } => self.core_modules += 1,
            Payload::InstanceSection(section) => self.core_instances += section.count(),
            Payload::ComponentTypeSection(section) => self.types += section.count(),
            Payload::ComponentInstanceSection(section) => {
                for instance in section.clone() {
                    if let ComponentInstance::Instantiate { component_index, .. } = instance? {
                        self.made_of.push((self.instances, component_index));
                    }
                    self.instances += 1;
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone() {
                    self.alias(&alias?);
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section.clone() {
                    match function? {
                        CanonicalFunction::Lift { options, .. } => {
                            self.functions += 1;
                            let memory = options.iter().find_map(|option| match option {
                                wasmparser::CanonicalOption::Memory(memory) => Some(*memory),
                                _ => None,
                            });
                            self.memory = self.memory.or(memory);
                        }
                        _ => self.core_functions += 1,
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    self.item(import?.ty.kind());
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    self.item(export?.kind);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) {
        match *alias {
            ComponentAlias::CoreInstanceExport { kind: ExternalKind::Func, .. } => {
                self.core_functions += 1;
            }
            ComponentAlias::CoreInstanceExport { .. } => {}
            ComponentAlias::InstanceExport { kind, instance_index, name } => {
                if name == LANDMARK && kind == ComponentExternalKind::Func {
                    self.landmark = Some(instance_index);
                }
                self.item(kind);
            }
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Type, .. } => self.types += 1,
            ComponentAlias::Outer { .. } => {}
        }
    }

    fn item(&mut self, kind: ComponentExternalKind) {
        match kind {
            ComponentExternalKind::Func => self.functions += 1,
            ComponentExternalKind::Type => self.types += 1,
            ComponentExternalKind::Instance => self.instances += 1,
            _ => {}
        }
    }

    fn component_of(&self, instance: u32) -> Result<u32, String> {
        let made = self.made_of.iter().find(|(made, _)| *made == instance);
        made.map(|(_, component)| *component)
            .ok_or_else(|| format!("the instance that has `{LANDMARK}` is not made here"))
    }

    /// Passes the functions of an inner instance on. Returns their names and indices.
    fn pass_on(&self, component: &mut Component, instance: u32) -> [(&'static str, u32); 3] {
        let mut aliases = ComponentAliasSection::new();
        for name in [READ, AIM, WRITE] {
            let kind = ComponentExportKind::Func;
            aliases.alias(Alias::InstanceExport { instance, kind, name });
        }
        component.section(&aliases);
        // Each export makes one more function, after those that are here by then.
        let first = self.functions;
        [(READ, first), (AIM, first + 1), (WRITE, first + 2)]
    }

    /// Adds the module and lifts its functions.
    fn add_module(&self, component: &mut Component, memory: u32) -> [(&'static str, u32); 3] {
        component.section(&ModuleSection(&door()));
        let mut instances = InstanceSection::new();
        instances.export_items([("memory", ExportKind::Memory, memory)]);
        let environment = ModuleArg::Instance(self.core_instances);
        instances.instantiate(self.core_modules, [("env", environment)]);
        component.section(&instances);
        let mut aliases = ComponentAliasSection::new();
        for name in ["read", "aim", "place", "write"] {
            let (instance, kind) = (self.core_instances + 1, ExportKind::Func);
            aliases.alias(Alias::CoreInstanceExport { instance, kind, name });
        }
        component.section(&aliases);

        let byte = ComponentValType::Primitive(PrimitiveValType::U8);
        let number = ComponentValType::Primitive(PrimitiveValType::U32);
        let bytes = ComponentValType::Type(self.types);
        let mut types = ComponentTypeSection::new();
        types.defined_type().list(byte);
        types.function().params([] as [(&str, ComponentValType); 0]).result(Some(bytes));
        types.function().params([("offset", number), ("pages", number)]).result(None);
        types.function().params([("bytes", bytes)]).result(None);
        component.section(&types);

        let [read, aim, place, write] = [0, 1, 2, 3].map(|i| self.core_functions + i);
        let memory = CanonicalOption::Memory(memory);
        let mut lifted = CanonicalFunctionSection::new();
        lifted.lift(read, self.types + 1, [memory]);
        lifted.lift(aim, self.types + 2, []);
        lifted.lift(write, self.types + 3, [memory, CanonicalOption::Realloc(place)]);
        component.section(&lifted);
        let first = self.functions;
        [(READ, first), (AIM, first + 1), (WRITE, first + 2)]
    }
}

/// The module that shares the memory.
fn door() -> Module {
    const I32: ValType = ValType::I32;
    const PAGE_BITS: i32 = 16;
    let mut types = TypeSection::new();
    types.ty().function([], [I32]);
    types.ty().function([I32, I32], []);
    types.ty().function([I32, I32, I32, I32], [I32]);
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import("env", "memory", EntityType::Memory(memory));
    let mut functions = FunctionSection::new();
    functions.function(0).function(1).function(2).function(1);
    let mut globals = GlobalSection::new();
    let target = GlobalType { val_type: I32, mutable: true, shared: false };
    globals.global(target, &ConstExpr::i32_const(0));
    let mut exports = ExportSection::new();
    for (index, name) in (0..).zip(["read", "aim", "place", "write"]) {
        exports.export(name, ExportKind::Func, index);
    }

    let word = |offset| MemArg { offset, align: 2, memory_index: 0 };
    // Pointer and length of the list are returned in a page of their own.
    let mut read = Function::new([(1, I32)]);
    read.instructions()
        .i32_const(1)
        .memory_grow(0)
        .local_tee(0)
        .i32_const(-1)
        .i32_eq()
        .if_(BlockType::Empty)
        .unreachable()
        .end()
        .local_get(0)
        .i32_const(PAGE_BITS)
        .i32_shl()
        .local_tee(0)
        .i32_const(0)
        .i32_store(word(0))
        .local_get(0)
        .local_get(0)
        .i32_store(word(4))
        .local_get(0)
        .end();
    let mut aim = Function::new([]);
    aim.instructions()
        .local_get(0)
        .global_set(0)
        .local_get(1)
        .memory_size(0)
        .i32_gt_u()
        .if_(BlockType::Empty)
        .local_get(1)
        .memory_size(0)
        .i32_sub()
        .memory_grow(0)
        .i32_const(-1)
        .i32_eq()
        .if_(BlockType::Empty)
        .unreachable()
        .end()
        .end()
        .end();
    // Asked by the canonical ABI for room for the list.
    let mut place = Function::new([]);
    place.instructions().global_get(0).end();
    let mut write = Function::new([]);
    write.instructions().end();
    let mut code = CodeSection::new();
    code.function(&read).function(&aim).function(&place).function(&write);

    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&functions)
        .section(&globals)
        .section(&exports)
        .section(&code);
    module
}
