#include "experiment/ablation.h"

namespace lano {

std::vector<AblationRow> ablation_rows(Geometry geometry, const LanoConfig& reference) {
  std::vector<AblationRow> rows{{"reference", {}},
                                {"without bias", {"model.bias=none"}},
                                {"without DWC", {"model.dwc=false"}},
                                {"without bias and DWC", {"model.bias=none", "model.dwc=false"}},
                                {"latent agents", {"model.agent_tokens=latent"}}};
  rows.push_back(reference.ffn_stencil ? AblationRow{"without FFN stencil", {"model.ffn_stencil=false"}}
                                       : AblationRow{"with FFN stencil", {"model.ffn_stencil=true"}});
  rows.push_back(reference.exchange ? AblationRow{"without exchange", {"model.exchange=false"}}
                                    : AblationRow{"with exchange", {"model.exchange=true"}});
  rows.push_back(reference.bias == Bias::sum ? AblationRow{"outer bias", {"model.bias=outer"}}
                                             : AblationRow{"sum bias", {"model.bias=sum"}});
  if (geometry == Geometry::points) {
    rows.push_back(reference.order == Order::file ? AblationRow{"hilbert order", {"model.order=hilbert"}}
                                                  : AblationRow{"file order", {"model.order=file"}});
    rows.push_back(reference.stencil == Stencil::neighbours
                       ? AblationRow{"stencil along the order", {"model.stencil=order"}}
                       : AblationRow{"stencil over neighbours", {"model.stencil=neighbours"}});
  } else {
    rows.push_back(reference.pool == Pool::sequence ? AblationRow{"grid pooling", {"model.pool=grid"}}
                                                    : AblationRow{"sequence pooling", {"model.pool=sequence"}});
    rows.push_back(reference.padding == Padding::edge ? AblationRow{"zeros beyond the edge", {"model.padding=zeros"}}
                                                      : AblationRow{"edge padding", {"model.padding=edge"}});
  }
  return rows;
}

}  // namespace lano
